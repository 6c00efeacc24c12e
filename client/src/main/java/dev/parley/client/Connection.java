package dev.parley.client;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One open event stream: a thread that reads it, and a few frames that wait to be taken.
///
/// The thread waits when nobody takes frames, so a slow reader makes the server wait and not memory
/// grow. One thread takes; any may close.
final class Connection implements AutoCloseable {

  private static final int WAITING_MAX = 256;
  private static final int BUFFER = 16 << 10;
  private static final int FRAME_MAX = 16 << 20;

  private final InputStream body;
  private final BlockingQueue<Arrival> arrivals = new ArrayBlockingQueue<>(WAITING_MAX);
  private final Thread reader;
  private volatile boolean closed;
  private volatile long lastByteNanos = System.nanoTime();

  /// What a connection yields.
  sealed interface Arrival {

    record Frame(SseFrame frame) implements Arrival {}

    /// Always the last.
    record Ended(Throwable reason) implements Arrival {}

    /// No byte came for too long; the connection may be dead.
    record Silent() implements Arrival {}
  }

  Connection(InputStream body) {
    this.body = body;
    this.reader = Thread.ofVirtual().name("parley-stream").start(this::read);
  }

  /// The next arrival; `Silent` after `silenceMax` without a byte; null if `patience` ran out.
  @Nullable Arrival await(Duration patience, Duration silenceMax) throws InterruptedException {
    var start = System.nanoTime();
    while (true) {
      var now = System.nanoTime();
      // Silence counts from when somebody listens: a reader that was busy has not heard the bytes.
      var silence = Math.min(now - start, now - lastByteNanos);
      var untilSilent = silenceMax.toNanos() - silence;
      var untilGivenUp = patience.toNanos() - (now - start);
      var arrival =
          arrivals.poll(Math.max(0, Math.min(untilSilent, untilGivenUp)), TimeUnit.NANOSECONDS);
      if (arrival != null) {
        return arrival;
      }
      if (untilGivenUp <= 0) {
        return null;
      }
      if (untilSilent <= 0) {
        return new Arrival.Silent();
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
        arrivals.put(new Arrival.Ended(new IOException("the server closed the stream")));
      } catch (IOException | BadAnswer broken) {
        arrivals.put(new Arrival.Ended(broken));
      }
    } catch (InterruptedException | Closed _) {
      // Nobody listens any more.
    } finally {
      Http.closeQuietly(body);
    }
  }

  private void offer(SseFrame frame) {
    try {
      arrivals.put(new Arrival.Frame(frame));
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
    Http.closeQuietly(body);
    // Wakes whoever waits; if there is no room, nobody does.
    var _ = arrivals.offer(new Arrival.Ended(new IOException("closed")));
  }

  /// Ends the reading thread.
  private static final class Closed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Closed() {
      super(null, null, false, false);
    }
  }
}
