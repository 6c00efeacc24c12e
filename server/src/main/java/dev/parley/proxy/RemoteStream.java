package dev.parley.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The stream of a service while it comes in, read a little ahead by a thread of its own.
///
/// For one thread that reads. Closing it closes the connection, and so ends the thread.
public final class RemoteStream implements AutoCloseable {

  private static final int AHEAD = 256;

  /// What comes of reading.
  public sealed interface Item {

    /// An event.
    record Came(Frame frame) implements Item {}

    /// There is no more: the service ended it, or the connection broke.
    record Over(String why) implements Item {}

    /// Nothing came for too long.
    record Silent() implements Item {}
  }

  private final InputStream in;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(AHEAD);
  private final Thread reader;

  public RemoteStream(InputStream in) {
    this.in = in;
    this.reader = Thread.ofVirtual().name("proxy-reader").start(this::read);
  }

  /// What is next.
  public Item next(Duration patience) throws InterruptedException {
    var item = items.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    return item == null ? new Item.Silent() : item;
  }

  /// What has come already, if something has.
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
      // So it is closed.
    }
  }
}
