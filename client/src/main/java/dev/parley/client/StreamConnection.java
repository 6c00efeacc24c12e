package dev.parley.client;

import dev.parley.client.SseParser.SseFrame;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One open event stream: a thread that reads it, and a queue of a few frames.
///
/// The thread waits while the queue is full, so a slow reader slows the server down instead of
/// using more memory. One thread reads from the queue; any thread may close.
final class StreamConnection implements AutoCloseable {

  private static final int WAITING_MAX = 256;
  private static final int BUFFER = 16 << 10;
  private static final int FRAME_MAX = 16 << 20;

  private final InputStream body;
  private final BlockingQueue<ReceivedItem> arrivals = new ArrayBlockingQueue<>(WAITING_MAX);
  private final Thread reader;
  private volatile boolean closed;
  private volatile long lastByteNanos = System.nanoTime();

  /// An element of the queue.
  sealed interface ReceivedItem {

    record Frame(SseFrame frame) implements ReceivedItem {}

    /// The stream has ended; always the last element.
    record Ended(Throwable reason) implements ReceivedItem {}

    /// No byte arrived for too long; the connection may be dead.
    record Silent() implements ReceivedItem {}
  }

  StreamConnection(InputStream body) {
    this.body = body;
    this.reader = Thread.ofVirtual().name("parley-stream").start(this::read);
  }

  /// Waits for the next element; `Silent` after `silenceMax` without a byte, null after `patience`.
  @Nullable ReceivedItem await(Duration patience, Duration silenceMax) throws InterruptedException {
    var start = System.nanoTime();
    while (true) {
      var now = System.nanoTime();
      // Silence counts from the start of this call: a busy reader has not seen the last bytes.
      var silence = Math.min(now - start, now - lastByteNanos);
      var untilSilent = silenceMax.toNanos() - silence;
      var untilGivenUp = patience.toNanos() - (now - start);
      var receivedItem =
          arrivals.poll(Math.max(0, Math.min(untilSilent, untilGivenUp)), TimeUnit.NANOSECONDS);
      if (receivedItem != null) {
        return receivedItem;
      }
      if (untilGivenUp <= 0) {
        return null;
      }
      if (untilSilent <= 0) {
        return new ReceivedItem.Silent();
      }
    }
  }

  private void read() {
    try {
      try {
        var parser = new SseParser(FRAME_MAX, this::offer);
        var buffer = new byte[BUFFER];
        for (var n = body.read(buffer); n >= 0; n = body.read(buffer)) {
          lastByteNanos = System.nanoTime();
          parser.feed(buffer, n);
        }
        arrivals.put(new ReceivedItem.Ended(new IOException("the server closed the stream")));
      } catch (IOException | BadAnswer broken) {
        arrivals.put(new ReceivedItem.Ended(broken));
      }
    } catch (InterruptedException | Closed _) {
      // The connection was closed.
    } finally {
      HttpRequests.closeQuietly(body);
    }
  }

  private void offer(SseFrame frame) {
    try {
      arrivals.put(new ReceivedItem.Frame(frame));
    } catch (InterruptedException interrupted) {
      throw new Closed();
    }
    if (closed) {
      throw new Closed();
    }
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
    HttpRequests.closeQuietly(body);
    // Wakes the waiting reader. If the queue is full, no reader waits.
    var _ = arrivals.offer(new ReceivedItem.Ended(new IOException("closed")));
  }

  /// Ends the reading thread.
  private static final class Closed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Closed() {
      super(null, null, false, false);
    }
  }
}
