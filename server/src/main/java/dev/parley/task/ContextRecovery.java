package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Takes up what the last run of the server left open: each context on its own, some at a time, while the server
/// already answers requests. Safe for use by many threads.
///
/// Whoever wants to change a context waits until it is recovered, and recovers it itself if nobody does so yet. A
/// context that cannot be recovered is reported and left alone; the others are not affected.
final class ContextRecovery implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger(ContextRecovery.class.getName());
  private static final int PARALLEL_MAX = 8;

  private final Map<ContextId, FutureTask<Boolean>> pending = new ConcurrentHashMap<>();
  private final Map<ContextId, String> failed = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /// Begins to recover these, and returns.
  void start(List<ContextId> contexts, Consumer<ContextId> recover) {
    for (var context : contexts) {
      pending.put(context, new FutureTask<>(() -> recoverOne(context, recover)));
    }
    var queue = new ConcurrentLinkedQueue<>(contexts);
    for (var i = 0; i < Math.min(PARALLEL_MAX, contexts.size()); i++) {
      Thread.ofVirtual()
          .name("recovery-" + i)
          .start(
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
    } catch (Throwable broken) { // The root of a thread: the other contexts go on.
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
          "the tasks of context " + context + " were not taken up again: " + reason,
          cause);
    }
  }

  /// Returns when the context is recovered, or cannot be.
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

  /// The same, and refuses a context that could not be recovered.
  ///
  /// @throws Rejection.Damaged if so
  void check(ContextId context) {
    await(context);
    var reason = failed.get(context);
    if (reason != null) {
      throw new Rejection.Damaged(
          "the tasks of context %s could not be taken up when the server started: %s"
              .formatted(context, reason));
    }
  }

  /// Begins nothing more.
  @Override
  public void close() {
    closed = true;
  }
}
