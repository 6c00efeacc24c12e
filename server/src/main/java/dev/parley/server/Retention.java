package dev.parley.server;

import dev.parley.api.ContextDeletion;
import dev.parley.projection.Views;
import dev.parley.projection.VisibleContexts;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Removes contexts that were not used for a long time, in batches. A context with open tasks is
/// never removed.
final class Retention implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Retention.class.getName());
  private static final int PAGE = 200;
  private static final int BATCH_MAX = 1_000;
  private static final Duration PAUSE_MAX = Duration.ofHours(1);
  private static final Duration PAUSE_MIN = Duration.ofSeconds(1);

  private final Views views;
  private final ContextDeletion contextDeletion;
  private final Time time;
  private final Duration idle;
  private volatile boolean closed;
  private @Nullable Thread thread;

  Retention(Views views, ContextDeletion contextDeletion, Time time, Duration idle) {
    this.views = views;
    this.contextDeletion = contextDeletion;
    this.time = time;
    this.idle = idle;
  }

  /// Starts to check regularly, unless contexts are kept forever.
  void start(Threads threads) {
    if (idle.isPositive()) {
      thread = threads.start("retention", this::run);
    }
  }

  /// Removes idle contexts, at most one batch. Returns their number.
  int sweep() {
    var removed = 0;
    for (var context : due()) {
      if (!closed && remove(context)) {
        removed++;
      }
    }
    if (removed > 0) {
      LOG.log(Level.INFO, "removed {0} contexts that were idle for {1}", removed, idle);
    }
    return removed;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    if (thread != null) {
      try {
        thread.join(Duration.ofSeconds(2));
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    var pause = idle.dividedBy(10);
    pause = pause.compareTo(PAUSE_MAX) > 0 ? PAUSE_MAX : pause;
    pause = pause.compareTo(PAUSE_MIN) < 0 ? PAUSE_MIN : pause;
    try {
      while (waitOpen(pause)) {
        sweepAll();
      }
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for `pause`. False if this was closed meanwhile.
  private synchronized boolean waitOpen(Duration pause) throws InterruptedException {
    var deadline = time.deadline(pause);
    while (!closed && time.remaining(deadline) > 0) {
      time.waitUntil(this, deadline);
    }
    return !closed;
  }

  private void sweepAll() {
    try {
      while (sweep() == BATCH_MAX) {
        LOG.log(Level.DEBUG, "more idle contexts remain");
      }
    } catch (Rejection refused) {
      LOG.log(Level.WARNING, "cannot remove idle contexts: {0}", refused.getMessage());
    } catch (RuntimeException failed) { // Near the root of a thread: the next sweep may succeed.
      LOG.log(Level.ERROR, "cannot remove idle contexts", failed);
    }
  }

  private List<ContextView> due() {
    var before = time.instant().minus(idle);
    var due = new ArrayList<ContextView>();
    String cursor = null;
    do {
      var resultPage = views.contexts(VisibleContexts.ALL, cursor, PAGE);
      resultPage.items().stream()
          .filter(context -> context.updatedAt().isBefore(before) && context.openTasks() == 0)
          .forEach(due::add);
      cursor = resultPage.nextCursor();
    } while (cursor != null && due.size() < BATCH_MAX);
    return due.size() > BATCH_MAX ? due.subList(0, BATCH_MAX) : due;
  }

  private boolean remove(ContextView context) {
    try {
      // Only if it has not changed since it was found idle: a context that is in use stays.
      contextDeletion.deleteUnused(context.contextId(), context.position());
      return true;
    } catch (Rejection.Stale | Rejection.Gone used) {
      return false;
    } catch (Rejection refused) {
      LOG.log(
          Level.WARNING,
          "cannot remove idle context {0}: {1}",
          context.contextId(),
          refused.getMessage());
      return false;
    }
  }
}
