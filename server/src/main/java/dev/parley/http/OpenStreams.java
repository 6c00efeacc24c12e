package dev.parley.http;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The open streams: limits their number, and ends them all when the server stops.
public final class OpenStreams {

  /// How long a closed peer takes to reset the connection, in nearly all cases.
  private static final Duration RESET_DELAY = Duration.ofMillis(100);

  private final Set<StreamSlot> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final Semaphore free;
  private final int max;
  private final Time time;

  public OpenStreams(int max, Time time) {
    this.max = max;
    this.time = time;
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

  /// Takes a slot for a stream that learns from its waits, or from [StreamSlot#onSignal], when it
  /// must end. Closing it frees the slot.
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
    countChanged();
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

  /// Waits until this many streams are open, at most `patience`.
  public void awaitCount(int wanted, Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    synchronized (open) {
      while (count() != wanted && time.remaining(deadline) > 0) {
        time.waitUntil(open, deadline);
      }
    }
  }

  private void countChanged() {
    synchronized (open) {
      open.notifyAll();
    }
  }

  private Rejection full() {
    return new Rejection.Busy("too-many-streams", "too many open streams: the limit is " + max);
  }

  /// Writes a heartbeat, which has no effect on the reader.
  @FunctionalInterface
  public interface HeartbeatWriter {
    void write() throws IOException;
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
    private volatile Runnable onSignal = () -> {};

    private StreamSlot(Runnable onEnd) {
      this.onEnd = onEnd;
    }

    /// Sets the kind of the stream, and a function that returns, on any thread, how many events it
    /// is behind.
    public void describe(StreamKind what, LongSupplier behind) {
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

    /// Sets an action for a stream that waits without a thread. It runs, on any thread, when the
    /// stream must end or probe its connection; it must not block.
    public void onSignal(Runnable action) {
      onSignal = action;
      if (signaled()) {
        action.run();
      }
    }

    /// True if the stream must end or probe its connection.
    public synchronized boolean signaled() {
      return ended || probeRequested;
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
            time.sleep(pause);
            return true;
          });
    }

    /// Ends the present wait, or the next one, so that the stream probes its connection; see
    /// [#probe].
    public void requestProbe() {
      synchronized (this) {
        probeRequested = true;
        interruptWait();
      }
      onSignal.run();
    }

    private void interruptWait() {
      if (waiting != null && !waiting.equals(Thread.currentThread())) {
        waiting.interrupt();
      }
    }

    /// Writes two heartbeats, if a probe was requested since the last call: if the reader has
    /// closed the connection, the first one causes a reset, and the second one fails.
    public boolean probe(HeartbeatWriter heartbeatWriter) throws IOException {
      synchronized (this) {
        if (!probeRequested) {
          return false;
        }
        probeRequested = false;
      }
      heartbeatWriter.write();
      // A thread that was interrupted in a monitor's wait may have a permit left, and not park.
      var end = time.deadline(RESET_DELAY);
      while (time.remaining(end) > 0) {
        time.parkUntil(this, end);
      }
      heartbeatWriter.write();
      return true;
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
        interruptWait();
      }
      onEnd.run();
      onSignal.run();
    }

    @Override
    public void close() {
      if (open.remove(this)) {
        free.release();
        countChanged();
      }
    }
  }
}
