package dev.parley.view;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;

/// Brings the views up to the log.
///
/// Callers read the log on their own threads and hand page by page to the views' thread, one
/// transaction each. Several may do so for the same context: a page that is known already changes
/// nothing.
final class Intake {

  /// Few enough to hold in memory when each is a large chunk of a file.
  static final int PAGE = 256;

  private static final int CONTEXTS_PAGE = 100;

  private final EventLog log;
  private final ViewThread thread;
  private final Feed feed;

  Intake(EventLog log, ViewThread thread, Feed feed) {
    this.log = log;
    this.thread = thread;
    this.feed = feed;
  }

  /// Takes in what is new in the context.
  ///
  /// @return where its last event stood when asked: the views are there now, or further
  /// @throws Rejection `NotFound` or `Gone`, as the log does; then the views know nothing of it
  Position takeIn(ContextId context) {
    try {
      var at = position(context);
      var head = log.head(context);
      if (at.after(head)) {
        // The log was put back to an earlier state: what the views know never happened.
        forget(context);
        at = Position.START;
      }
      var shared = head.after(at) ? log.inspect(context, ContextState::sharedTo) : 0;
      while (head.after(at)) {
        var entries = log.read(context, at, PAGE);
        if (entries.isEmpty()) {
          throw new IllegalStateException("the log of " + context + " ends before its head");
        }
        at = fold(context, at, entries, shared);
      }
      return head;
    } catch (Rejection.Gone | Rejection.NotFound unknown) {
      forget(context);
      throw unknown;
    }
  }

  /// Takes in what is new in all contexts.
  ///
  /// @return the views' generation in which it was
  long takeInAll() {
    var seen = new HashSet<ContextId>();
    while (true) {
      record Known(long mark, long generation) {}
      var known = thread.call(tables -> new Known(tables.mark(), thread.generation()));
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
      // Changes come in order: one that was seen before has changed since this began, and so have
      // all that follow it. Waiting for those too might never end.
      if (!Collections.disjoint(seen, changes.contexts())) {
        caughtUp(changes.mark(), known.generation());
        return known.generation();
      }
      seen.addAll(changes.contexts());
    }
  }

  private void caughtUp(long mark, long generation) {
    if (feed.caughtUp(generation)) {
      thread.call(
          tables -> {
            tables.moves().caughtUp(mark);
            return true;
          });
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
      takeIn(context);
    } catch (Rejection.Gone | Rejection.NotFound _) {
      // It was deleted, and now the views have forgotten it too.
    }
  }

  private Position position(ContextId context) {
    return thread.call(tables -> tables.contexts().position(context));
  }

  private Position fold(ContextId context, Position after, List<Entry> entries, long shared) {
    return thread.call(
        tables -> {
          // Throws if it was deleted meanwhile, so that nothing comes back once it is forgotten.
          log.head(context);
          var at = tables.contexts().position(context);
          if (!after.after(at)) {
            ViewFold.fold(tables, entries.stream().filter(e -> e.position().after(at)).toList());
            if (at.seq() < shared) {
              // At once, and not when the fork is met: until then a task would seem to be the
              // fork's.
              tables.tasks().share(context, shared);
            }
          }
          return tables.contexts().position(context);
        });
  }
}
