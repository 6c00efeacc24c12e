package dev.parley.task;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/// Runs actions later, each on its own virtual thread. Thread-safe.
final class Timers implements AutoCloseable {

  private final ConcurrentHashMap<Object, PendingTimer> pendingTimers = new ConcurrentHashMap<>();
  private final Time time;
  private volatile boolean closed;

  Timers(Time time) {
    this.time = time;
  }

  /// Runs the action after the delay, unless `key` is scheduled again or canceled before. No-op
  /// after [#close]: the next start of the server sets its own timers.
  void schedule(Object key, Duration delay, Runnable action) {
    pendingTimers.compute(
        key,
        (_, before) -> {
          if (before != null) {
            before.timer.cancel();
          }
          return closed ? null : new PendingTimer(key, delay, action);
        });
  }

  void cancel(Object key) {
    var before = pendingTimers.remove(key);
    if (before != null) {
      before.timer.cancel();
    }
  }

  /// One timer. It runs its action only while it is the current timer of its key: a timer that is
  /// due while its key is scheduled again or canceled does nothing.
  private final class PendingTimer {
    private final Time.Timer timer;

    PendingTimer(Object key, Duration delay, Runnable action) {
      this.timer =
          time.schedule(
              "timer-" + key,
              delay,
              () -> {
                if (pendingTimers.remove(key, this)) {
                  action.run();
                }
              });
    }
  }

  /// The number of pending timers.
  int size() {
    return pendingTimers.size();
  }

  @Override
  public void close() {
    closed = true;
    pendingTimers.keySet().forEach(this::cancel);
  }
}
