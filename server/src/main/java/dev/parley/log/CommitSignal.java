package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Lets a few threads wait for the next commit of any context.
final class CommitSignal implements AutoCloseable {

  private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /// Wakes the waiting threads after a commit.
  void signal() {
    waiters.forEach(LockSupport::unpark);
  }

  /// Waits until `happened` returns true. Returns false if `patience` nanoseconds elapse first.
  ///
  /// @throws Rejection.Unavailable if the log is closed
  boolean await(BooleanSupplier happened, long patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience;
    var me = Thread.currentThread();
    waiters.add(me);
    try {
      while (!happened.getAsBoolean()) {
        if (closed) {
          throw new Rejection.Unavailable("the log is closed");
        }
        var left = deadline - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        LockSupport.parkNanos(this, left);
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
