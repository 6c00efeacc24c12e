package dev.parley.api;

import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.stream.FrameCache;
import dev.parley.task.Tasks;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Deletes a context: cancels its tasks, then removes its data from the log, the views and all
/// caches.
public final class ContextDeletion {

  private static final System.Logger LOG = System.getLogger(ContextDeletion.class.getName());

  private static final int DELETED_MAX = 10_000;

  private final EventLog log;
  private final Views views;
  private final Tasks tasks;
  private final FrameCache cache;

  /// The root tasks of recently deleted contexts. Its monitor guards it.
  private final Map<ContextId, List<TaskId>> deletedRoots = new LinkedHashMap<>();

  private final List<Consumer<ContextId>> listeners = new CopyOnWriteArrayList<>();
  private final List<Consumer<ContextId>> beforeListeners = new CopyOnWriteArrayList<>();

  public ContextDeletion(EventLog log, Views views, Tasks tasks, FrameCache cache) {
    this.log = log;
    this.views = views;
    this.tasks = tasks;
    this.cache = cache;
  }

  /// The root tasks of a deleted context, for subscribers that learn only its id; empty if it was
  /// deleted long ago, or before this process started.
  public List<TaskId> deletedRoots(ContextId context) {
    synchronized (deletedRoots) {
      return deletedRoots.getOrDefault(context, List.of());
    }
  }

  /// Registers a listener that removes an API's cached data of a deleted context.
  public void onDelete(Consumer<ContextId> forget) {
    listeners.add(forget);
  }

  /// Registers a listener that is called before the data of a context is erased. If it throws, the
  /// context is not deleted.
  public void beforeDelete(Consumer<ContextId> listener) {
    beforeListeners.add(listener);
  }

  /// Returns when the context is deleted. `principal` is the caller that deletes it; null if the
  /// server does.
  public void delete(ContextId context, @Nullable String principal) {
    try {
      tasks.cancelAll(context, "deleted", principal);
    } catch (Rejection.Damaged unreadable) {
      LOG.log(Level.INFO, "deleting a damaged context: {0}", unreadable.getMessage());
    }
    beforeListeners.forEach(before -> before.accept(context));
    keepRoots(context);
    try {
      log.delete(context, principal, _ -> {});
      LOG.log(
          Level.INFO,
          "context {0} was deleted by {1}",
          context,
          principal == null ? "the server" : principal);
    } finally {
      if (isDeleted(context)) {
        forget(context);
      }
    }
  }

  /// Finishes a deletion that could not be finished at once. Returns when it is finished.
  ///
  /// @throws Rejection.Gone if it was already finished
  public void finish(ContextId context) {
    log.delete(context);
    forget(context);
  }

  private void keepRoots(ContextId context) {
    List<TaskId> roots;
    try {
      roots = List.copyOf(views.rootTasks().inContext(context));
    } catch (Rejection.Damaged unreadable) {
      roots = List.of();
    }
    synchronized (deletedRoots) {
      deletedRoots.put(context, roots);
      if (deletedRoots.size() > DELETED_MAX) {
        deletedRoots.remove(deletedRoots.keySet().iterator().next());
      }
    }
  }

  /// True also if some of its bytes are not overwritten yet.
  private boolean isDeleted(ContextId context) {
    try {
      log.head(context);
      return false;
    } catch (Rejection.Gone deleted) {
      return true;
    } catch (Rejection.Damaged unreadable) {
      return false;
    }
  }

  /// Deletes a context that has not changed since `position`.
  ///
  /// @throws Rejection.Stale if it has changed, or if one of its tasks has not ended; it is not
  /// deleted then
  public void deleteUnused(ContextId context, Position position) {
    beforeListeners.forEach(before -> before.accept(context));
    keepRoots(context);
    log.delete(
        context,
        null,
        state -> {
          if (!state.head().equals(position) || !state.openTasks().isEmpty()) {
            throw new Rejection.Stale("the context is in use: " + context);
          }
        });
    LOG.log(Level.INFO, "context {0} was deleted: it was unused for too long", context);
    forget(context);
  }

  private void forget(ContextId context) {
    views.forget(context);
    cache.forget(context);
    listeners.forEach(other -> other.accept(context));
  }
}
