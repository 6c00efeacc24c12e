package dev.parley.view;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.ViewThread.Work;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/// Updates the views from the log.
///
/// Callers read the log on their own threads and pass it page by page to the thread of the views,
/// one transaction per page. Only one caller at a time updates a context and the others wait for
/// it. Otherwise every caller that queries an outdated context would read all its new entries.
final class Intake {

  /// Few enough to hold in memory even if each entry is a large chunk of a file.
  static final int PAGE = 256;

  private static final int CONTEXTS_PAGE = 100;

  private static final Logger LOGGER = System.getLogger(Intake.class.getName());

  private final EventLog log;
  private final ViewThread thread;
  private final Feed feed;
  private final Map<ContextId, IntakeLock> locks = new ConcurrentHashMap<>();

  /// Contexts that cannot be read. Each is logged once.
  private final Set<ContextId> damaged = ConcurrentHashMap.newKeySet();

  Intake(EventLog log, ViewThread thread, Feed feed) {
    this.log = log;
    this.thread = thread;
    this.feed = feed;
  }

  /// The position of the views, the end of the log, and the answer if both are equal.
  private record Step<T>(Position at, Position head, Optional<T> answer) {}

  /// Updates the context and runs the query. This takes one call to the thread of the views if
  /// there is nothing new, and one more for each page of new entries.
  ///
  /// @throws Rejection `NotFound` or `Gone`, as the log does; the views then remove the context
  <T> T answer(ContextId context, Work<T> question) {
    try {
      var step = thread.call(tables -> look(tables, context, question));
      return step.answer().isPresent() ? step.answer().get() : takeIn(context, step, question);
    } catch (Rejection.Gone | Rejection.NotFound unknown) {
      forget(context);
      throw unknown;
    }
  }

  /// Held by the caller that updates a context, and removed with its last user.
  private static final class IntakeLock {
    final ReentrantLock lock = new ReentrantLock();
    int callers;
  }

  private <T> T takeIn(ContextId context, Step<T> known, Work<T> question) {
    var entry =
        locks.compute(
            context,
            (_, found) -> {
              var joined = found == null ? new IntakeLock() : found;
              joined.callers++;
              return joined;
            });
    try {
      var alone = entry.lock.tryLock();
      if (!alone) {
        entry.lock.lockInterruptibly();
      }
      try {
        return takeInFrom(
            alone ? known : thread.call(tables -> look(tables, context, question)),
            context,
            question);
      } finally {
        entry.lock.unlock();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("interrupted while querying the views");
    } finally {
      locks.compute(context, (_, _) -> --entry.callers == 0 ? null : entry);
    }
  }

  private <T> T takeInFrom(Step<T> known, ContextId context, Work<T> question) {
    var step = known;
    while (step.answer().isEmpty()) {
      var at = step.at();
      var head = step.head();
      if (at.after(head)) {
        // The log was restored to an earlier state: the views hold events that it no longer has.
        forget(context);
        step = new Step<>(Position.START, head, Optional.empty());
      } else {
        var page = page(context, at);
        step = thread.call(tables -> fold(tables, page, head, question));
      }
    }
    return step.answer().get();
  }

  private <T> Step<T> look(Tables tables, ContextId context, Work<T> question) throws SQLException {
    var at = tables.contexts().position(context);
    var head = log.head(context);
    return new Step<>(
        at, head, at.equals(head) ? Optional.of(question.run(tables)) : Optional.empty());
  }

  /// Marks the feed as current if the log has no new entries, so that a reader that watches a new
  /// log from its start gets every entry.
  void begin() {
    var known = known();
    if (log.changes(known.mark(), 1).mark() == known.mark()) {
      caughtUp(known.mark(), known.generation());
    }
  }

  /// The mark up to which the views are folded, and their generation.
  private record Known(long mark, long generation) {}

  private Known known() {
    return thread.call(tables -> new Known(tables.mark(), thread.generation()));
  }

  /// Updates all contexts.
  ///
  /// @return the generation of the views that was updated
  long takeInAll() {
    var seen = new HashSet<ContextId>();
    while (true) {
      var known = known();
      var changes = log.changes(known.mark(), CONTEXTS_PAGE);
      if (changes.mark() == known.mark()) {
        caughtUp(known.mark(), known.generation());
        return known.generation();
      }
      for (var context : changes.contexts()) {
        takeInOrForget(context);
      }
      thread.call(
          tables -> {
            if (thread.generation() == known.generation() && changes.mark() > tables.mark()) {
              tables.moves().note(changes, tables.contexts());
              tables.advance(changes.mark());
            }
            return true;
          });
      feed.cameTo(changes.mark());
      feed.moved(changes.contexts());
      // Changes are sorted. A context that occurs again has changed since this call began, and so
      // have all contexts after it. Waiting for those, too, might never end.
      if (!Collections.disjoint(seen, changes.contexts())) {
        caughtUp(changes.mark(), known.generation());
        return known.generation();
      }
      seen.addAll(changes.contexts());
    }
  }

  /// Reports that the views are up to date, which ends an outage.
  void works() {
    thread.works();
  }

  private void caughtUp(long mark, long generation) {
    if (!feed.live(generation)) {
      thread.call(
          tables -> {
            tables.moves().caughtUp(mark);
            return true;
          });
      feed.caughtUp(generation);
      feed.cameTo(mark);
    }
  }

  /// Removes all data of a context, also from the disk.
  void forget(ContextId context) {
    if (thread.call(tables -> tables.forget(context))) {
      thread.scrub();
    }
  }

  private void takeInOrForget(ContextId context) {
    try {
      answer(context, _ -> true);
    } catch (Rejection.Gone | Rejection.NotFound _) {
      // The context was deleted, and has now been removed from the views.
    } catch (Rejection.Damaged damaged) {
      // Queries for this context fail. The other contexts must still be updated.
      if (this.damaged.add(context)) {
        LOGGER.log(Level.ERROR, "a context is missing from the views: {0}", damaged.getMessage());
      }
    }
  }

  /// Entries of a context after a position, and the last seq that it shares with its fork source.
  private record Batch(ContextId context, Position after, List<Entry> entries, long shared) {}

  private Batch page(ContextId context, Position after) {
    var shared = log.inspect(context, ContextState::sharedTo);
    var entries = log.read(context, after, PAGE);
    if (entries.isEmpty()) {
      throw new IllegalStateException("the log of " + context + " ends before its head");
    }
    return new Batch(context, after, entries, shared);
  }

  private <T> Step<T> fold(Tables tables, Batch page, Position head, Work<T> question)
      throws SQLException {
    // Throws if the context was deleted meanwhile, so that a removed context is not added again.
    log.head(page.context());
    var at = tables.contexts().position(page.context());
    if (!page.after().after(at)) {
      ViewFold.fold(tables, page.entries().stream().filter(e -> e.position().after(at)).toList());
      if (at.seq() < page.shared()) {
        // Done now, and not at the fork event: until then, the fork would seem to own the shared
        // tasks.
        tables.tasks().share(page.context(), page.shared());
        tables.stored().share(page.context(), page.shared());
      }
    }
    var now = tables.contexts().position(page.context());
    return new Step<>(
        now, head, head.after(now) ? Optional.empty() : Optional.of(question.run(tables)));
  }
}
