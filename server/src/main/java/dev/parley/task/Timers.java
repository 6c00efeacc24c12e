package dev.parley.task;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Runs actions later, each on its own virtual thread. Thread-safe.
final class Timers implements AutoCloseable {

  /// Longer delays are shortened to this: the executor counts in nanoseconds, which overflow after
  /// 292 years.
  private static final Duration WAIT_MAX = Duration.ofDays(3_650);

  private final ConcurrentHashMap<Object, PendingTimer> pendingTimers = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("timers").factory());

  Timers() {
    executor.setRemoveOnCancelPolicy(true);
  }

  /// Runs the action after the delay, unless `key` is scheduled again or canceled before.
  void schedule(Object key, Duration delay, Runnable action) {
    try {
      pendingTimers.compute(key, (_, before) -> replace(key, before, delay, action));
    } catch (RejectedExecutionException closed) {
      // The server stops; the next start sets its own timers.
    }
  }

  private PendingTimer replace(
      Object key, @Nullable PendingTimer before, Duration delay, Runnable action) {
    if (before != null) {
      before.cancel();
    }
    var wait = delay.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : delay;
    var pendingTimer = new PendingTimer(key, action);
    pendingTimer.future =
        executor.schedule(pendingTimer, Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
    return pendingTimer;
  }

  void cancel(Object key) {
    var before = pendingTimers.remove(key);
    if (before != null) {
      before.cancel();
    }
  }

  /// One timer. It runs its action only while it is the current timer of its key: a timer that is
  /// due while its key is scheduled again or canceled does nothing.
  private final class PendingTimer implements Runnable {
    private final Object key;
    private final Runnable action;
    private volatile @Nullable ScheduledFuture<?> future;

    PendingTimer(Object key, Runnable action) {
      this.key = key;
      this.action = action;
    }

    @Override
    public void run() {
      if (pendingTimers.remove(key, this)) {
        Thread.ofVirtual().name("timer-" + key).start(action);
      }
    }

    void cancel() {
      var scheduled = future;
      if (scheduled != null) {
        scheduled.cancel(false);
      }
    }
  }

  /// The number of pending timers.
  int size() {
    return pendingTimers.size();
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
