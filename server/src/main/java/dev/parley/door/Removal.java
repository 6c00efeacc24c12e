package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Tasks;
import dev.parley.view.Views;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Deletes a context: cancels its tasks, then removes its data from the log, the views and all
/// caches.
public final class Removal {

  private static final System.Logger LOG = System.getLogger(Removal.class.getName());

  private final EventLog log;
  private final Views views;
  private final Tasks tasks;
  private final FrameCache cache;
  private final Departures departures = new Departures();
  private final List<Consumer<ContextId>> others = new CopyOnWriteArrayList<>();

  public Removal(EventLog log, Views views, Tasks tasks, FrameCache cache) {
    this.log = log;
    this.views = views;
    this.tasks = tasks;
    this.cache = cache;
  }

  /// The agents of recently deleted contexts.
  public Departures departures() {
    return departures;
  }

  /// Registers a listener that removes an API's cached data of a deleted context.
  public void also(Consumer<ContextId> forget) {
    others.add(forget);
  }

  /// Returns when the context is deleted. `principal` is the caller that deletes it; null if the
  /// server does.
  public void remove(ContextId context, @Nullable String principal) {
    try {
      tasks.cancelAll(context, "deleted", principal);
    } catch (Rejection.Damaged unreadable) {
      LOG.log(Level.INFO, "deleting a damaged context: {0}", unreadable.getMessage());
    }
    departures.note(context, roots(context));
    try {
      log.delete(context, principal, _ -> {});
      LOG.log(
          Level.INFO,
          "context {0} was deleted by {1}",
          context,
          principal == null ? "the server" : principal);
    } finally {
      if (gone(context)) {
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

  private List<TaskId> roots(ContextId context) {
    try {
      return views.roots().of(context);
    } catch (Rejection.Damaged unreadable) {
      return List.of();
    }
  }

  /// True also if some of its bytes are not overwritten yet.
  private boolean gone(ContextId context) {
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
  public void removeUnused(ContextId context, Position position) {
    departures.note(context, roots(context));
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
    others.forEach(other -> other.accept(context));
  }
}
