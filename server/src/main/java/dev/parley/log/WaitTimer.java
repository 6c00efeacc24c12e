package dev.parley.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Ends long waits at their deadlines: one thread checks all of them periodically.
///
/// A separate timer for each of thousands of waits, set and dropped with each event, would cost a
/// third of the delivery of the event.
final class WaitTimer implements AutoCloseable {

  /// Maximum delay of the end of a long wait.
  static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Map<Thread, Long> deadlines = new ConcurrentHashMap<>();
  private final Thread thread;
  private volatile boolean closed;

  WaitTimer(FatalHandler fatal) {
    thread = CriticalThread.start("parley-log-timer", this::run, fatal);
  }

  /// Waits until the calling thread is unparked or interrupted, or until `deadline`.
  ///
  /// `deadline` is a value of [System#nanoTime].
  void park(Object blocker, long deadline) {
    var left = deadline - System.nanoTime();
    if (left < 10 * TICK_NANOS) {
      LockSupport.parkNanos(blocker, left);
      return;
    }
    var me = Thread.currentThread();
    deadlines.put(me, deadline);
    try {
      LockSupport.park(blocker);
    } finally {
      deadlines.remove(me);
    }
  }

  private void run() {
    while (!closed) {
      LockSupport.parkNanos(this, TICK_NANOS);
      var now = System.nanoTime();
      deadlines.forEach(
          (waiting, deadline) -> {
            if (deadline - now <= 0) {
              LockSupport.unpark(waiting);
            }
          });
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
