package dev.parley.runtime;

import java.time.Duration;
import java.time.InstantSource;

/// Tells the time, waits, and runs actions later. Thread-safe.
///
/// Code whose behavior depends on time uses this interface, so that a test can move time by hand. A
/// wait for a process or the network is not covered: no clock of ours decides when it ends.
public interface Time extends InstantSource {

  /// Longer waits are shortened to this: nanoseconds in a `long` overflow after 292 years.
  Duration WAIT_MAX = Duration.ofDays(3_650);

  /// A number of nanoseconds that only grows. Only differences have a meaning.
  long nanos();

  /// Waits until the calling thread is unparked or interrupted, or until [#nanos] reaches
  /// `deadline`. May return earlier, so callers check their condition in a loop.
  void parkUntil(Object blocker, long deadline);

  /// Waits a few milliseconds, or until the calling thread is unparked, so that more work comes
  /// together. Only the load depends on it, so manual time does not wait.
  default void pauseBriefly(Duration duration) {
    parkUntil(this, deadline(duration));
  }

  /// Waits on `monitor`, which the caller holds, until it is notified or [#nanos] reaches
  /// `deadline`. May return earlier, so callers check their condition in a loop.
  void waitUntil(Object monitor, long deadline) throws InterruptedException;

  /// Runs `action` on a thread of its own after `delay`, unless it is canceled before.
  Timer schedule(String name, Duration delay, Runnable action);

  /// Waits for `duration`.
  default void sleep(Duration duration) throws InterruptedException {
    var deadline = deadline(duration);
    while (remaining(deadline) > 0) {
      parkUntil(this, deadline);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /// The value of [#nanos] after `duration`.
  default long deadline(Duration duration) {
    return nanos() + (duration.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : duration).toNanos();
  }

  /// The nanoseconds until `deadline`; not positive if it has passed.
  default long remaining(long deadline) {
    return deadline - nanos();
  }

  /// An action that will run later.
  interface Timer {

    /// Prevents the action, unless it has started. Does nothing the second time.
    void cancel();
  }
}
