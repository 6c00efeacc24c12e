package dev.parley.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/// The time of the machine. Timers use the JDK's own timer thread, so there is nothing to close.
///
/// One timer ends all long waits: it checks them every 100 ms while there are any. A separate timer
/// for each of thousands of waiting readers, set and dropped with each event, would cost a third of
/// the delivery of the event.
public final class SystemTime implements Time {

  /// Maximum delay of the end of a long wait.
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Threads threads;
  private final InstantSource clock;
  private final Map<Thread, Long> longWaits = new ConcurrentHashMap<>();
  private final AtomicBoolean ticking = new AtomicBoolean();

  public SystemTime(Threads threads) {
    this(threads, InstantSource.system());
  }

  /// Uses another clock for [#instant].
  public SystemTime(Threads threads, InstantSource clock) {
    this.threads = threads;
    this.clock = clock;
  }

  @Override
  public Instant instant() {
    return clock.instant();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public void parkUntil(Object blocker, long deadline) {
    var left = remaining(deadline);
    if (left < 10 * TICK_NANOS) {
      LockSupport.parkNanos(blocker, left);
      return;
    }
    var me = Thread.currentThread();
    longWaits.put(me, deadline);
    startTicking();
    try {
      LockSupport.park(blocker);
    } finally {
      longWaits.remove(me);
    }
  }

  private void startTicking() {
    if (!ticking.get() && ticking.compareAndSet(false, true)) {
      scheduleTick();
    }
  }

  private void scheduleTick() {
    var _ = ForkJoinPool.commonPool().schedule(this::tick, TICK_NANOS, TimeUnit.NANOSECONDS);
  }

  private void tick() {
    var scheduled = false;
    try {
      var now = nanos();
      longWaits.forEach(
          (waiting, deadline) -> {
            if (deadline - now <= 0) {
              LockSupport.unpark(waiting);
            }
          });
      if (!longWaits.isEmpty()) {
        scheduleTick();
        scheduled = true;
      }
    } finally {
      // Also if there was no memory for the next tick: the next wait then starts it again.
      if (!scheduled) {
        ticking.set(false);
      }
    }
    // A wait that began before the end of the ticks counts on this timer.
    if (!scheduled && !longWaits.isEmpty()) {
      startTicking();
    }
  }

  @Override
  @SuppressWarnings("WaitNotInLoop") // Callers wait in a loop.
  public void waitUntil(Object monitor, long deadline) throws InterruptedException {
    var left = remaining(deadline);
    if (left > 0) {
      // Rounded up: a wait of 0 ms would have no end.
      monitor.wait(left / 1_000_000 + 1);
    }
  }

  @Override
  public Timer schedule(String name, Duration delay, Runnable action) {
    var nanos = Math.max(0, (delay.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : delay).toNanos());
    var future =
        ForkJoinPool.commonPool()
            .schedule(() -> threads.start(name, action), nanos, TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }
}
