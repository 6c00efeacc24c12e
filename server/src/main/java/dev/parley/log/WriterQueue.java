package dev.parley.log;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The queue of the writer thread, which is the only one that takes from it and waits.
final class WriterQueue {

  /// An item in the queue.
  sealed interface Work {
    record Append(PendingAppend pending) implements Work {}

    record Erase(CachedContext context, PendingAppend done) implements Work {}

    /// Makes the writer check for other work.
    record Wake() implements Work {}

    record Stop() implements Work {}
  }

  private final Queue<Work> queue = new ConcurrentLinkedQueue<>();
  private final Time time;
  private volatile @Nullable Thread writer;

  /// True while the writer waits for work, so that others must unpark it.
  private volatile boolean idle;

  private volatile boolean stopRequested;

  WriterQueue(Time time) {
    this.time = time;
  }

  void add(Work work) {
    queue.add(work);
    if (idle) {
      LockSupport.unpark(writer);
    }
  }

  /// Ends any wait of the writer.
  void wake() {
    queue.add(new Work.Wake());
    LockSupport.unpark(writer);
  }

  /// Makes the writer stop after the work that was added before.
  void stop() {
    stopRequested = true;
    queue.add(new Work.Stop());
    LockSupport.unpark(writer);
  }

  // The following methods are for the writer.

  /// Makes the calling thread the writer.
  void open() {
    writer = Thread.currentThread();
  }

  /// The next item, or null if there is none.
  @Nullable Work poll() {
    return queue.poll();
  }

  /// The next item. Waits for one up to `patience` nanoseconds, or without a limit if it is negative.
  @Nullable Work take(long patience) throws InterruptedException {
    var deadline = time.nanos() + patience;
    idle = true;
    try {
      while (true) {
        var work = queue.poll();
        if (work != null || (patience >= 0 && time.remaining(deadline) <= 0)) {
          return work;
        }
        if (patience < 0) {
          LockSupport.park(this);
          checkInterrupt();
        } else {
          await(deadline);
        }
      }
    } finally {
      idle = false;
    }
  }

  /// Waits until `deadline`, or until another thread calls [#wake]. May return earlier.
  void await(long deadline) throws InterruptedException {
    time.parkUntil(this, deadline);
    checkInterrupt();
  }

  /// Waits before the next attempt to reach the store, but not once the log is being closed.
  void pause(Duration duration) throws InterruptedException {
    var deadline = time.deadline(duration);
    while (!stopRequested && time.remaining(deadline) > 0) {
      await(deadline);
    }
  }

  private static void checkInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
