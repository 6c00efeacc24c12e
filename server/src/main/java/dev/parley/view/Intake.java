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

/// Brings the views up to the log.
///
/// Callers read the log on their own threads and hand page by page to the views' thread, one
/// transaction each. For one context, one caller does so at a time, and the others then find it done:
/// otherwise all who ask about a context that is far behind would read the whole of it.
final class Intake {

  /// Few enough to hold in memory when each is a large chunk of a file.
  static final int PAGE = 256;

  private static final int CONTEXTS_PAGE = 100;

  private static final Logger LOGGER = System.getLogger(Intake.class.getName());

  private final EventLog log;
  private final ViewThread thread;
  private final Feed feed;
  private final Map<ContextId, IntakeLock> locks = new ConcurrentHashMap<>();

  /// Contexts that cannot be read, so that each is told of once.
  private final Set<ContextId> damaged = ConcurrentHashMap.newKeySet();

  Intake(EventLog log, ViewThread thread, Feed feed) {
    this.log = log;
    this.thread = thread;
    this.feed = feed;
  }

  /// How far the views are, and what they answer if that is far enough.
  private record Step<T>(Position at, Position head, Optional<T> answer) {}

  /// Takes in what is new in the context, and asks: one visit to the views' thread if nothing is new, one
  /// more for each page of what is.
  ///
  /// @throws Rejection `NotFound` or `Gone`, as the log does; then the views know nothing of it
  <T> T answer(ContextId context, Work<T> question) {
    try {
      var step = thread.call(tables -> look(tables, context, question));
      return step.answer().isPresent() ? step.answer().get() : takeIn(context, step, question);
    } catch (Rejection.Gone | Rejection.NotFound unknown) {
      forget(context);
      throw unknown;
    }
  }

  /// Held by the caller who takes in what is new in a context; goes with the last who wants it.
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
      throw new Rejection.Unavailable("interrupted while asking the views");
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
        // The log was put back to an earlier state: what the views know never happened.
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

  /// If there is nothing to take in for the first time, what happens from now on is news: whoever watches a new log from
  /// its beginning is told all of it.
  void begin() {
    var known = known();
    if (log.changes(known.mark(), 1).mark() == known.mark()) {
      caughtUp(known.mark(), known.generation());
    }
  }

  /// How far the views have come, in which generation of them.
  private record Known(long mark, long generation) {}

  private Known known() {
    return thread.call(tables -> new Known(tables.mark(), thread.generation()));
  }

  /// Takes in what is new in all contexts.
  ///
  /// @return the views' generation in which it was
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
      // Changes come in order: one that was seen before has changed since this began, and so have
      // all that follow it. Waiting for those too might never end.
      if (!Collections.disjoint(seen, changes.contexts())) {
        caughtUp(changes.mark(), known.generation());
        return known.generation();
      }
      seen.addAll(changes.contexts());
    }
  }

  /// Notes that all that is new was taken in.
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

  /// Removes every byte of a context.
  void forget(ContextId context) {
    if (thread.call(tables -> tables.forget(context))) {
      thread.scrub();
    }
  }

  private void takeInOrForget(ContextId context) {
    try {
      answer(context, _ -> true);
    } catch (Rejection.Gone | Rejection.NotFound _) {
      // It was deleted, and now the views have forgotten it too.
    } catch (Rejection.Damaged damaged) {
      // Whoever asks for it is told so; the others must not suffer for it.
      if (this.damaged.add(context)) {
        LOGGER.log(Level.ERROR, "the views leave a context out: {0}", damaged.getMessage());
      }
    }
  }

  /// What follows a place in a context, and up to where it shares its past with another.
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
    // Throws if it was deleted meanwhile, so that nothing comes back once it is forgotten.
    log.head(page.context());
    var at = tables.contexts().position(page.context());
    if (!page.after().after(at)) {
      ViewFold.fold(tables, page.entries().stream().filter(e -> e.position().after(at)).toList());
      if (at.seq() < page.shared()) {
        // At once, and not when the fork is met: until then a task would seem to be the fork's.
        tables.tasks().share(page.context(), page.shared());
        tables.stored().share(page.context(), page.shared());
      }
    }
    var now = tables.contexts().position(page.context());
    return new Step<>(
        now, head, head.after(now) ? Optional.empty() : Optional.of(question.run(tables)));
  }
}
