package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import java.util.List;
import java.util.Map;
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
/// on its own thread if recovery has not begun. A context that cannot be recovered is logged and
/// left unchanged; the other contexts are not affected.
final class ContextRecovery implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ContextRecovery.class.getName());
  private static final int PARALLEL_MAX = 8;

  private final Map<ContextId, FutureTask<Boolean>> pending = new ConcurrentHashMap<>();
  private final Map<ContextId, String> failed = new ConcurrentHashMap<>();
  private final Threads threads;
  private volatile boolean closed;

  ContextRecovery(Threads threads) {
    this.threads = threads;
  }

  /// Starts the recovery of these contexts and returns immediately.
  void start(List<ContextId> contexts, Consumer<ContextId> recover) {
    for (var context : contexts) {
      pending.put(context, new FutureTask<>(() -> recoverOne(context, recover)));
    }
    var queue = new ConcurrentLinkedQueue<>(contexts);
    for (var i = 0; i < Math.min(PARALLEL_MAX, contexts.size()); i++) {
      threads.start(
          "recovery-" + i,
          () -> {
            for (var next = queue.poll(); next != null && !closed; next = queue.poll()) {
              await(next);
            }
          });
    }
  }

  private boolean recoverOne(ContextId context, Consumer<ContextId> recover) {
    try {
      if (!closed) {
        recover.accept(context);
      }
      return true;
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return true;
    } catch (Rejection refused) {
      report(context, String.valueOf(refused.getMessage()), null);
      return false;
    } catch (Throwable broken) { // The root of a thread: the other contexts continue.
      report(context, broken.toString(), broken);
      return false;
    } finally {
      pending.remove(context);
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

  /// Returns when the context is recovered, or its recovery has failed.
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
  /// @throws Rejection.Damaged if the recovery failed
  void check(ContextId context) {
    await(context);
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
