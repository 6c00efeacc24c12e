package dev.parley.agent;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Does work side by side, each piece on a virtual thread of its own, and ends with it.
///
/// For one thread, which forks, joins and closes.
final class Scope<T> implements AutoCloseable {

  /// How long a thread that was interrupted is waited for.
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /// Something to do that an interrupt ends.
  interface Work<T> {
    T run() throws InterruptedException;
  }

  /// One piece of work. Its lock guards how it came out: what comes first counts.
  static final class Branch<T> {
    private final CountDownLatch done = new CountDownLatch(1);
    private final Thread thread;
    private @Nullable T result;
    private @Nullable Throwable failure;
    private boolean settled;

    private Branch(String name, Work<T> work) {
      this.thread = Thread.ofVirtual().name(name).unstarted(() -> run(work));
    }

    /// Gives the piece of work its result, whatever it does, and interrupts it.
    void settle(T value) {
      settle(value, null);
      thread.interrupt();
    }

    private synchronized void settle(@Nullable T value, @Nullable Throwable reason) {
      if (!settled) {
        settled = true;
        result = value;
        failure = reason;
        done.countDown();
      }
    }

    private void run(Work<T> work) {
      try {
        settle(work.run(), null);
      } catch (Throwable broken) { // The root of a thread: whoever joins gets it.
        settle(null, broken);
      }
    }

    private T await() throws InterruptedException {
      done.await();
      synchronized (this) {
        return switch (failure) {
          case null -> present(result);
          case InterruptedException stopped -> throw stopped;
          case RuntimeException broken -> throw broken;
          case Error broken -> throw broken;
          default -> throw new IllegalStateException(failure);
        };
      }
    }

    private static <T> T present(@Nullable T value) {
      if (value == null) {
        throw new IllegalStateException("work without a result");
      }
      return value;
    }
  }

  private final List<Branch<T>> branches = new ArrayList<>();

  Branch<T> fork(String name, Work<T> work) {
    var branch = new Branch<>(name, work);
    branches.add(branch);
    branch.thread.start();
    return branch;
  }

  /// Waits for all and returns their results in the order of forking; throws what the first threw.
  List<T> join() throws InterruptedException {
    var results = new ArrayList<T>();
    for (var branch : branches) {
      results.add(branch.await());
    }
    return results;
  }

  /// Interrupts what still runs and waits for it a little.
  @Override
  public void close() {
    branches.forEach(
        branch -> {
          if (branch.done.getCount() > 0) {
            branch.thread.interrupt();
          }
        });
    var interrupted = Thread.interrupted();
    for (var branch : branches) {
      try {
        branch.done.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
