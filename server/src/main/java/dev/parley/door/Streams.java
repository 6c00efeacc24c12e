package dev.parley.door;

import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The open streams: limits their number, and ends them all when the server stops.
public final class Streams {

  private final Set<Open> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final Semaphore free;
  private final int max;

  public Streams(int max) {
    this.max = max;
    this.free = new Semaphore(max);
  }

  /// Rejects if no slot is free.
  ///
  /// @throws Rejection.Busy if no slot is free
  void checkFree() {
    if (free.availablePermits() == 0) {
      throw full();
    }
  }

  /// How many are open.
  public int count() {
    return max - free.availablePermits();
  }

  /// The kind of a stream, for metrics.
  public enum Kind {
    STREAM,
    SUBSCRIPTION,
    CONNECTION
  }

  /// The number of open streams of each kind.
  public Map<Kind, Long> counts() {
    return open.stream()
        .collect(Collectors.groupingBy(stream -> stream.kind, Collectors.counting()));
  }

  /// How many events the slowest reader has not been sent yet.
  public long lag() {
    return open.stream().mapToLong(Open::lag).max().orElse(0);
  }

  /// Takes a slot for a stream that runs on one thread. Closing it frees the slot.
  ///
  /// @throws Rejection.Busy if there is none
  public Open open() {
    return open(() -> {});
  }

  /// Takes a slot for a connection. Closing it frees the slot.
  ///
  /// @param told is called, on any thread, when the connection must end; must not block
  /// @throws Rejection.Busy if there is none
  public Open open(Runnable told) {
    if (!free.tryAcquire()) {
      throw full();
    }
    var stream = new Open(told);
    open.add(stream);
    if (ending.get()) {
      stream.end();
    }
    return stream;
  }

  /// Ends every stream, also those that are opened later, without cutting a frame.
  public void end() {
    ending.set(true);
    open.forEach(Open::end);
  }

  /// Waits until all streams have ended, at most `patience`.
  void awaitNone(Duration patience) throws InterruptedException {
    if (free.tryAcquire(max, patience.toMillis(), TimeUnit.MILLISECONDS)) {
      free.release(max);
    }
  }

  private Rejection full() {
    return new Rejection.Busy("too-many-streams", "too many open streams: the limit is " + max);
  }

  /// A blocking wait that may be interrupted.
  @FunctionalInterface
  public interface Wait {
    /// Waits; false if the time ran out.
    boolean run() throws InterruptedException;
  }

  /// The slot of a stream.
  ///
  /// The stream's thread is interrupted only while it waits for events, never while it writes,
  /// which would cut a frame. The monitor guards `waiting` and the flags.
  public final class Open implements AutoCloseable {
    private final Runnable told;
    private boolean ended;
    private boolean nudged;
    private volatile Kind kind = Kind.CONNECTION;
    private volatile LongSupplier lag = () -> 0;
    private @Nullable Thread waiting;

    private Open(Runnable told) {
      this.told = told;
    }

    /// Sets the kind of the stream, and a function that returns, on any thread, how many events it
    /// is behind.
    void reads(Kind what, LongSupplier behind) {
      kind = what;
      lag = behind;
    }

    private long lag() {
      try {
        return Math.max(0, lag.getAsLong());
      } catch (Rejection deleted) {
        return 0;
      }
    }

    /// True once the stream must end.
    public synchronized boolean ended() {
      return ended;
    }

    /// Returns the result of `wait`; false if the stream must end.
    public boolean await(Wait wait) {
      synchronized (this) {
        if (ended || nudged) {
          return false;
        }
        waiting = Thread.currentThread();
      }
      try {
        return wait.run();
      } catch (InterruptedException told) {
        endUnlessNudged();
        return false;
      } finally {
        synchronized (this) {
          waiting = null;
          if (ended || nudged) {
            // The interrupt may have arrived after the wait; it must not affect the next writes.
            Thread.interrupted();
          }
        }
      }
    }

    /// Waits for `pause`, or until the stream must end.
    public void pause(Duration pause) {
      await(
          () -> {
            Thread.sleep(pause);
            return true;
          });
    }

    /// Ends the present wait, or the next one, so that the stream probes its connection; see
    /// [#nudged].
    synchronized void nudge() {
      nudged = true;
      if (waiting != null && !waiting.equals(Thread.currentThread())) {
        waiting.interrupt();
      }
    }

    /// True if a probe was requested since the last call.
    synchronized boolean nudged() {
      var was = nudged;
      nudged = false;
      return was;
    }

    private void endUnlessNudged() {
      synchronized (this) {
        if (nudged) {
          return;
        }
      }
      end();
    }

    /// Ends the stream.
    public void end() {
      synchronized (this) {
        ended = true;
        if (waiting != null && !waiting.equals(Thread.currentThread())) {
          waiting.interrupt();
        }
      }
      told.run();
    }

    @Override
    public void close() {
      if (open.remove(this)) {
        free.release();
      }
    }
  }
}
