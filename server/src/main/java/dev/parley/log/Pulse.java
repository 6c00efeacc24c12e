package dev.parley.log;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Lets a few threads wait for the next commit, whatever it is about.
final class Pulse {

  private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();

  /// Something was committed.
  void beat() {
    waiters.forEach(LockSupport::unpark);
  }

  /// Waits until `happened`. False if so many nanoseconds went by first.
  boolean await(BooleanSupplier happened, long patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience;
    var me = Thread.currentThread();
    waiters.add(me);
    try {
      while (!happened.getAsBoolean()) {
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
}
