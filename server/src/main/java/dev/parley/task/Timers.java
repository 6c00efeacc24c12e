package dev.parley.task;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Does things later, each on a virtual thread of its own. Safe for use by many threads.
final class Timers implements AutoCloseable {

  /// Longer waits are begun anew: a timer counts in nanoseconds, which end after 292 years.
  private static final Duration WAIT_MAX = Duration.ofDays(3_650);

  private final ConcurrentHashMap<Object, ScheduledFuture<?>> set = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("timers").factory());

  Timers() {
    clock.setRemoveOnCancelPolicy(true);
  }

  /// Does this after so long, unless `key` is set again or cleared before.
  void set(Object key, Duration delay, Runnable action) {
    try {
      set.compute(key, (_, before) -> next(key, before, delay, action));
    } catch (RejectedExecutionException closed) {
      // The server stops; the next start sets its own timers.
    }
  }

  private ScheduledFuture<?> next(
      Object key, @Nullable ScheduledFuture<?> before, Duration delay, Runnable action) {
    if (before != null) {
      before.cancel(false);
    }
    var wait = delay.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : delay;
    return clock.schedule(
        () -> {
          set.remove(key);
          Thread.ofVirtual().name("timer-" + key).start(action);
        },
        Math.max(0, wait.toMillis()),
        TimeUnit.MILLISECONDS);
  }

  void clear(Object key) {
    var before = set.remove(key);
    if (before != null) {
      before.cancel(false);
    }
  }

  /// How many are set.
  int size() {
    return set.size();
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
