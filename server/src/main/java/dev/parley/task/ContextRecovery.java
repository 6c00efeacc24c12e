package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Resumes the tasks that the previous run of the server left open. Each context is recovered
/// separately, several in parallel, while the server already handles requests. Thread-safe.
///
/// A request that changes a context waits until the context is recovered, and recovers the context
/// on its own thread if recovery has not begun. While the store is not available, the recovery of a
/// context is repeated. A context that cannot be recovered for another reason is logged and left
/// unchanged; the other contexts are not affected.
final class ContextRecovery implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ContextRecovery.class.getName());
  private static final int PARALLEL_MAX = 8;
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);

  private final Map<ContextId, FutureTask<Boolean>> pending = new ConcurrentHashMap<>();
  private final Map<ContextId, String> failed = new ConcurrentHashMap<>();
  private final Time time;
  private final Threads threads;
  private volatile boolean closed;

  ContextRecovery(Time time, Threads threads) {
    this.time = time;
    this.threads = threads;
  }

  /// Starts the recovery of these contexts and returns immediately.
  void start(List<ContextId> contexts, Consumer<ContextId> recover) {
    for (var context : contexts) {
      pending.put(context, attempt(context, recover));
    }
    var queue = new ConcurrentLinkedQueue<>(contexts);
    for (var i = 0; i < Math.min(PARALLEL_MAX, contexts.size()); i++) {
      threads.start("recovery-" + i, () -> recoverAll(queue));
    }
  }

  private void recoverAll(Queue<ContextId> queue) {
    try {
      for (var next = queue.poll(); next != null && !closed; next = queue.poll()) {
        await(next);
        if (pending.containsKey(next)) {
          queue.add(next);
          time.sleep(RETRY_PAUSE);
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private FutureTask<Boolean> attempt(ContextId context, Consumer<ContextId> recover) {
    return new FutureTask<>(() -> recoverOne(context, recover), true);
  }

  private void recoverOne(ContextId context, Consumer<ContextId> recover) {
    var again = false;
    try {
      if (!closed) {
        recover.accept(context);
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // Nothing is left to recover.
    } catch (Rejection.Unavailable storeDown) {
      again = true;
    } catch (Rejection refused) {
      report(context, String.valueOf(refused.getMessage()), null);
    } catch (Throwable broken) { // The root of a thread: the other contexts continue.
      report(context, broken.toString(), broken);
    } finally {
      if (again) {
        pending.put(context, attempt(context, recover));
      } else {
        pending.remove(context);
      }
    }
  }

  private void report(ContextId context, String reason, @Nullable Throwable cause) {
    failed.put(context, reason);
    if (!closed) {
      LOGGER.log(
          System.Logger.Level.ERROR,
          "the tasks of context " + context + " could not be resumed: " + reason,
          cause);
    }
  }

  /// Returns when the context is recovered, or its recovery has failed or will be repeated.
  void await(ContextId context) {
    var one = pending.get(context);
    if (one == null) {
      return;
    }
    one.run();
    try {
      one.get();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the server is stopping");
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /// Waits like [#await], and rejects a context that could not be recovered.
  ///
  /// @throws Rejection.Unavailable if the store was not available
  /// @throws Rejection.Damaged if the recovery failed for another reason
  void check(ContextId context) {
    await(context);
    if (pending.containsKey(context)) {
      throw new Rejection.Unavailable(
          "the tasks of context %s are not resumed yet, because its log cannot be read; try again"
              .formatted(context));
    }
    var reason = failed.get(context);
    if (reason != null) {
      throw new Rejection.Damaged(
          "the tasks of context %s could not be resumed when the server started: %s"
              .formatted(context, reason));
    }
  }

  /// Starts no further recoveries.
  @Override
  public void close() {
    closed = true;
  }
}
