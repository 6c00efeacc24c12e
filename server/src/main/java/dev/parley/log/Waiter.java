package dev.parley.log;

import java.util.concurrent.locks.LockSupport;

/// Something that waits for changes of a context: a thread, or a listener. Compared by identity.
@FunctionalInterface
interface Waiter {

  /// Reports a change. Must not block.
  void wake();

  static Waiter of(Thread thread) {
    return () -> LockSupport.unpark(thread);
  }
}
