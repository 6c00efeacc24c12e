package dev.parley.log;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Lets a few threads wait for the next commit of any context.
final class CommitSignal implements AutoCloseable {

  private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();
  private final Time time;
  private volatile boolean closed;

  CommitSignal(Time time) {
    this.time = time;
  }

  /// Wakes the waiting threads after a commit.
  void signal() {
    waiters.forEach(LockSupport::unpark);
  }

  /// Waits until `happened` returns true. Returns false if `patience` elapses first.
  ///
  /// @throws Rejection.Unavailable if the log is closed
  boolean await(BooleanSupplier happened, Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    var me = Thread.currentThread();
    waiters.add(me);
    try {
      while (!happened.getAsBoolean()) {
        if (closed) {
          throw new Rejection.Unavailable("the log is closed");
        }
        if (time.remaining(deadline) <= 0) {
          return false;
        }
        time.parkUntil(this, deadline);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
      return true;
    } finally {
      waiters.remove(me);
    }
  }

  @Override
  public void close() {
    closed = true;
    signal();
  }
}
