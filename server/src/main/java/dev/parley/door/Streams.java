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

/// The streams that are open: how many there may be, and how to end them all.
public final class Streams {

  private final Set<Open> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final Semaphore free;
  private final int max;

  public Streams(int max) {
    this.max = max;
    this.free = new Semaphore(max);
  }

  /// Refuses if there is no place just now.
  ///
  /// @throws Rejection.Busy if so
  void checkFree() {
    if (free.availablePermits() == 0) {
      throw full();
    }
  }

  /// How many are open.
  public int count() {
    return max - free.availablePermits();
  }

  /// What has a place.
  public enum Kind {
    STREAM,
    SUBSCRIPTION,
    CONNECTION
  }

  /// How many are open of each kind.
  public Map<Kind, Long> counts() {
    return open.stream()
        .collect(Collectors.groupingBy(stream -> stream.kind, Collectors.counting()));
  }

  /// How many events the slowest reader is behind.
  public long lag() {
    return open.stream().mapToLong(Open::lag).max().orElse(0);
  }

  /// Takes a place for a stream that runs on one thread, until it is closed.
  ///
  /// @throws Rejection.Busy if there is none
  public Open open() {
    return open(() -> {});
  }

  /// Takes a place for something that stays open, until it is closed.
  ///
  /// @param told is run, on any thread, when it must end; it does not wait
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

  /// Ends every stream, also those that come later, without cutting a frame.
  public void end() {
    ending.set(true);
    open.forEach(Open::end);
  }

  /// Waits until all have ended, but no longer than `patience`.
  void awaitNone(Duration patience) throws InterruptedException {
    if (free.tryAcquire(max, patience.toMillis(), TimeUnit.MILLISECONDS)) {
      free.release(max);
    }
  }

  private Rejection full() {
    return new Rejection.Busy("too-many-streams", "there are " + max + " streams already");
  }

  /// Something that waits, and may be told to stop.
  @FunctionalInterface
  public interface Wait {
    /// What there is to wait for; false if it did not come.
    boolean run() throws InterruptedException;
  }

  /// A stream's place.
  ///
  /// Its thread is interrupted only while it waits for events, never while it writes: that would cut a
  /// frame. Its monitor guards `waiting`.
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

    /// What this is, and how to find out, on any thread, how many events it is behind.
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

    /// What `wait` returns; false if the stream must end.
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
            // The interrupt may have come when the wait was already over; the writes that follow
            // must not find it.
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

    /// Ends the present wait, or the next one; see [#nudged].
    synchronized void nudge() {
      nudged = true;
      if (waiting != null && !waiting.equals(Thread.currentThread())) {
        waiting.interrupt();
      }
    }

    /// True if somebody nudged the stream since this was last asked.
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
