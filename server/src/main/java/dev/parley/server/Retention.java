package dev.parley.server;

import dev.parley.door.Removal;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.view.ContextView;
import dev.parley.view.Views;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Removes contexts that nobody has used for long, some at a time, never one that has open tasks.
final class Retention implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Retention.class.getName());
  private static final int PAGE = 200;
  private static final int BATCH_MAX = 1_000;
  private static final Duration PAUSE_MAX = Duration.ofHours(1);
  private static final Duration PAUSE_MIN = Duration.ofSeconds(1);

  private final EventLog log;
  private final Views views;
  private final Removal removal;
  private final InstantSource clock;
  private final Duration idle;
  private final CountDownLatch closed = new CountDownLatch(1);
  private @Nullable Thread thread;

  Retention(EventLog log, Views views, Removal removal, InstantSource clock, Duration idle) {
    this.log = log;
    this.views = views;
    this.removal = removal;
    this.clock = clock;
    this.idle = idle;
  }

  /// Starts to look from time to time, unless contexts are to stay for ever.
  void start() {
    if (idle.isPositive()) {
      thread = Thread.ofVirtual().name("retention").start(this::run);
    }
  }

  /// Removes what is due now, at most a batch. Returns how many there were.
  int sweep() {
    var removed = 0;
    for (var context : due()) {
      if (closed.getCount() > 0 && remove(context)) {
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
    closed.countDown();
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
      while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        while (sweep() == BATCH_MAX) {
          LOG.log(Level.DEBUG, "more contexts are due");
        }
      }
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "retention has stopped", failed);
    }
  }

  private List<ContextId> due() {
    var before = clock.instant().minus(idle);
    var due = new ArrayList<ContextId>();
    String cursor = null;
    do {
      var page = views.contexts(Set.of(), cursor, PAGE);
      page.items().stream()
          .filter(context -> context.updatedAt().isBefore(before) && context.openTasks() == 0)
          .map(ContextView::contextId)
          .forEach(due::add);
      cursor = page.nextCursor();
    } while (cursor != null && due.size() < BATCH_MAX);
    return due.size() > BATCH_MAX ? due.subList(0, BATCH_MAX) : due;
  }

  private boolean remove(ContextId context) {
    try {
      if (!log.inspect(context, state -> state.openTasks().isEmpty())) {
        return false;
      }
      removal.remove(context, null);
      return true;
    } catch (Rejection refused) {
      LOG.log(Level.WARNING, "context {0} stays for now: {1}", context, refused.getMessage());
      return false;
    }
  }
}
