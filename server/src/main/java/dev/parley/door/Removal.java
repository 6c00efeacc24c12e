package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Tasks;
import dev.parley.view.Views;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/// Removes a context: ends its tasks, then every byte of it, wherever it is kept.
public final class Removal {

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

  /// What was removed lately.
  public Departures departures() {
    return departures;
  }

  /// Lets go of what a door keeps of contexts, too.
  public void also(Consumer<ContextId> forget) {
    others.add(forget);
  }

  /// Returns when the context is gone.
  public void remove(ContextId context) {
    tasks.cancelAll(context, "deleted");
    departures.note(context, views.roots().of(context));
    try {
      log.delete(context);
    } finally {
      if (gone(context)) {
        forget(context);
      }
    }
  }

  /// Returns when a removal is finished that has begun, and could not be finished at once.
  ///
  /// @throws Rejection.Gone if it was finished before
  public void finish(ContextId context) {
    log.delete(context);
    forget(context);
  }

  /// True also if some bytes of it are not overwritten yet.
  private boolean gone(ContextId context) {
    try {
      log.head(context);
      return false;
    } catch (Rejection.Gone deleted) {
      return true;
    }
  }

  private void forget(ContextId context) {
    views.forget(context);
    cache.forget(context);
    others.forEach(other -> other.accept(context));
  }
}
