package dev.parley.external.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A stream of server-sent events, read ahead by its own thread.
///
/// For one reading thread. Closing it closes the connection and ends the reader thread.
public final class ServerSentEventStream implements AutoCloseable {

  private static final int AHEAD = 256;

  /// The result of a read.
  public sealed interface StreamItem {

    /// An event.
    record Received(ServerSentEvent frame) implements StreamItem {}

    /// The stream has ended: the service closed it, or the connection broke.
    record StreamEnded(String why) implements StreamItem {}

    /// No event arrived in time.
    record TimedOut() implements StreamItem {}
  }

  private final InputStream in;
  private final BlockingQueue<StreamItem> items = new ArrayBlockingQueue<>(AHEAD);
  private final Thread reader;

  public ServerSentEventStream(InputStream in) {
    this.in = in;
    this.reader = Thread.ofVirtual().name("proxy-reader").start(this::read);
  }

  /// Waits for the next item.
  public StreamItem next(Duration patience) throws InterruptedException {
    var streamItem = items.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    return streamItem == null ? new StreamItem.TimedOut() : streamItem;
  }

  /// The next item if one is available, else null.
  public @Nullable StreamItem ready() {
    return items.poll();
  }

  private void read() {
    try {
      var frames = new ServerSentEventReader(in);
      for (var serverSentEvent = frames.next();
          serverSentEvent != null;
          serverSentEvent = frames.next()) {
        items.put(new StreamItem.Received(serverSentEvent));
      }
      items.put(new StreamItem.StreamEnded("the service ended its stream"));
    } catch (IOException broken) {
      putEnd("the connection broke: " + broken.getMessage());
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void putEnd(String why) {
    try {
      items.put(new StreamItem.StreamEnded(why));
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    reader.interrupt();
    try {
      in.close();
    } catch (IOException gone) {
      // It is closed anyway.
    }
  }
}
