package dev.parley.http;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Lets the thread that creates it wait until a callback runs on another thread.
final class CallbackWait {

  private final Thread waiting = Thread.currentThread();
  private volatile boolean done;

  /// The callback has run.
  void done() {
    done = true;
    LockSupport.unpark(waiting);
  }

  /// Waits for [#done]. False if `patience` ran out first.
  boolean await(Time time, Duration patience) throws InterruptedException {
    for (var deadline = time.deadline(patience); !done && time.remaining(deadline) > 0; ) {
      time.parkUntil(this, deadline);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return done;
  }
}
