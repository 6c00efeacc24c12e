package dev.parley.http;

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
public final class OpenStreams {

  private final Set<StreamSlot> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final Semaphore free;
  private final int max;

  public OpenStreams(int max) {
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
  public enum StreamKind {
    STREAM,
    SUBSCRIPTION,
    CONNECTION
  }

  /// The number of open streams of each kind.
  public Map<StreamKind, Long> counts() {
    return open.stream()
        .collect(Collectors.groupingBy(stream -> stream.streamKind, Collectors.counting()));
  }

  /// How many events the slowest reader has not been sent yet.
  public long lag() {
    return open.stream().mapToLong(StreamSlot::lag).max().orElse(0);
  }

  /// Takes a slot for a stream that runs on one thread. Closing it frees the slot.
  ///
  /// @throws Rejection.Busy if there is none
  public StreamSlot open() {
    return open(() -> {});
  }

  /// Takes a slot for a connection. Closing it frees the slot.
  ///
  /// @param onEnd is called, on any thread, when the connection must end; must not block
  /// @throws Rejection.Busy if there is none
  public StreamSlot open(Runnable onEnd) {
    if (!free.tryAcquire()) {
      throw full();
    }
    var stream = new StreamSlot(onEnd);
    open.add(stream);
    if (ending.get()) {
      stream.end();
    }
    return stream;
  }

  /// Ends every stream, also those that are opened later, without cutting a frame.
  public void end() {
    ending.set(true);
    open.forEach(StreamSlot::end);
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
  public interface InterruptibleWait {
    /// Waits; false if the time ran out.
    boolean run() throws InterruptedException;
  }

  /// The slot of a stream.
  ///
  /// The stream's thread is interrupted only while it waits for events, never while it writes,
  /// which would cut a frame. The monitor guards `waiting` and the flags.
  public final class StreamSlot implements AutoCloseable {
    private final Runnable onEnd;
    private boolean ended;
    private boolean probeRequested;
    private volatile StreamKind streamKind = StreamKind.CONNECTION;
    private volatile LongSupplier lag = () -> 0;
    private @Nullable Thread waiting;

    private StreamSlot(Runnable onEnd) {
      this.onEnd = onEnd;
    }

    /// Sets the kind of the stream, and a function that returns, on any thread, how many events it
    /// is behind.
    void describe(StreamKind what, LongSupplier behind) {
      streamKind = what;
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
    public boolean await(InterruptibleWait interruptibleWait) {
      synchronized (this) {
        if (ended || probeRequested) {
          return false;
        }
        waiting = Thread.currentThread();
      }
      try {
        return interruptibleWait.run();
      } catch (InterruptedException told) {
        endUnlessProbeRequested();
        return false;
      } finally {
        synchronized (this) {
          waiting = null;
          if (ended || probeRequested) {
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
    /// [#probeRequested].
    synchronized void requestProbe() {
      probeRequested = true;
      if (waiting != null && !waiting.equals(Thread.currentThread())) {
        waiting.interrupt();
      }
    }

    /// True if a probe was requested since the last call.
    synchronized boolean takeProbeRequest() {
      var was = probeRequested;
      probeRequested = false;
      return was;
    }

    private void endUnlessProbeRequested() {
      synchronized (this) {
        if (probeRequested) {
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
      onEnd.run();
    }

    @Override
    public void close() {
      if (open.remove(this)) {
        free.release();
      }
    }
  }
}
