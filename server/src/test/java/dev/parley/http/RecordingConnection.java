package dev.parley.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A detached connection without a network: it records what a stream writes. For many threads.
public final class RecordingConnection implements FrameStream.DetachedSink {

  private final BlockingQueue<String> writes = new LinkedBlockingQueue<>();
  private final Queue<WriteResult> results = new ConcurrentLinkedQueue<>();
  private final BlockingQueue<WriteListener> pending = new LinkedBlockingQueue<>();
  private final Runnable onWriteNow;
  private final Runnable onEnd;

  public RecordingConnection() {
    this(() -> {}, () -> {});
  }

  /// @param onWriteNow is called during each write that does not block
  /// @param onEnd is called when the stream finishes the response or closes the connection
  public RecordingConnection(Runnable onWriteNow, Runnable onEnd) {
    this.onWriteNow = onWriteNow;
    this.onEnd = onEnd;
  }

  /// The next write that does not block has this result, instead of `DONE`.
  public void answer(WriteResult result) {
    results.add(result);
  }

  /// Waits for a write that contains one of these texts. Returns the text.
  public String await(String... texts) throws InterruptedException {
    var written = writes.poll(20, TimeUnit.SECONDS);
    while (written != null) {
      for (var text : texts) {
        if (written.contains(text)) {
          return text;
        }
      }
      written = writes.poll(20, TimeUnit.SECONDS);
    }
    throw new AssertionError("nothing was written that contains one of " + List.of(texts));
  }

  /// Waits for a write with the result `LATER`, and ends it.
  public void endWrite(boolean succeeded) throws InterruptedException {
    var listener = pending.poll(20, TimeUnit.SECONDS);
    if (listener == null) {
      throw new AssertionError("no write is pending");
    }
    listener.written(succeeded);
  }

  @Override
  public Optional<FrameStream.DetachedSink> detach() {
    return Optional.of(this);
  }

  @Override
  public void write(ByteBuffer frames) {
    writes.add(StandardCharsets.UTF_8.decode(frames).toString());
  }

  @Override
  public WriteResult writeNow(ChunkBuffer chunk, WriteListener listener) {
    onWriteNow.run();
    var result = Optional.ofNullable(results.poll()).orElse(WriteResult.DONE);
    if (result == WriteResult.LATER) {
      pending.add(listener);
    }
    writes.add(text(chunk));
    return result;
  }

  private static String text(ChunkBuffer chunk) {
    var bytes = new ByteArrayOutputStream();
    try {
      chunk.writeTo(Channels.newChannel(bytes));
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void finish() {
    onEnd.run();
    writes.add("finished");
  }

  @Override
  public void abort() {
    writes.add("aborted");
    onEnd.run();
  }
}
