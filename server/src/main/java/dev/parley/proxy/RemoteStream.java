package dev.parley.proxy;

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
public final class RemoteStream implements AutoCloseable {

  private static final int AHEAD = 256;

  /// The result of a read.
  public sealed interface Item {

    /// An event.
    record Came(Frame frame) implements Item {}

    /// The stream has ended: the service closed it, or the connection broke.
    record Over(String why) implements Item {}

    /// No event arrived in time.
    record Silent() implements Item {}
  }

  private final InputStream in;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(AHEAD);
  private final Thread reader;

  public RemoteStream(InputStream in) {
    this.in = in;
    this.reader = Thread.ofVirtual().name("proxy-reader").start(this::read);
  }

  /// Waits for the next item.
  public Item next(Duration patience) throws InterruptedException {
    var item = items.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    return item == null ? new Item.Silent() : item;
  }

  /// The next item if one is available, else null.
  public @Nullable Item ready() {
    return items.poll();
  }

  private void read() {
    try {
      var frames = new FrameReader(in);
      for (var frame = frames.next(); frame != null; frame = frames.next()) {
        items.put(new Item.Came(frame));
      }
      items.put(new Item.Over("the service ended its stream"));
    } catch (IOException broken) {
      over("the connection broke: " + broken.getMessage());
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void over(String why) {
    try {
      items.put(new Item.Over(why));
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
