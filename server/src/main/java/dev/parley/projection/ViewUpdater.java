package dev.parley.projection;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.projection.ViewThread.TableWork;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
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
///
/// If the views cannot be written, for example because the disk is full, a query folds the new
/// entries in a transaction that is not saved.
final class ViewUpdater {

  /// Few enough to hold in memory even if each entry is a large chunk of a file.
  static final int PAGE = 256;

  private static final int CONTEXTS_PAGE = 100;

  /// How many entries a query folds without saving them. Every such query folds them again, on the
  /// thread of the views.
  private static final int UNSAVED_ENTRIES_MAX = 16_384;

  private static final Logger LOGGER = System.getLogger(ViewUpdater.class.getName());

  private final EventLog log;
  private final ViewThread thread;
  private final Map<ContextId, UpdateLock> locks = new ConcurrentHashMap<>();

  /// Contexts that cannot be read. Each is logged once.
  private final Set<ContextId> damaged = ConcurrentHashMap.newKeySet();

  ViewUpdater(EventLog log, ViewThread thread) {
    this.log = log;
    this.thread = thread;
  }

  /// The position of the views, the end of the log, and the answer if both are equal.
  private record QueryStep<T>(Position at, Position head, Optional<T> answer) {}

  /// Updates the context and runs the query. This takes one call to the thread of the views if
  /// there is nothing new, and one more for each page of new entries.
  ///
  /// @throws Rejection `NotFound` or `Gone`, as the log does; the views then remove the context
  <T> T query(ContextId context, TableWork<T> question) {
    try {
      return updateAndQuery(context, question);
    } catch (Rejection.Unavailable cannotSave) {
      return thread.callWithoutSaving(
          viewTables -> {
            foldUnsaved(viewTables, context, UNSAVED_ENTRIES_MAX);
            return question.run(viewTables);
          });
    }
  }

  private <T> T updateAndQuery(ContextId context, TableWork<T> question) {
    try {
      var queryStep = thread.call(viewTables -> queryIfCurrent(viewTables, context, question));
      return queryStep.answer().isPresent()
          ? queryStep.answer().get()
          : update(context, queryStep, question);
    } catch (Rejection.Gone | Rejection.NotFound unknown) {
      forget(context);
      throw unknown;
    }
  }

  /// Runs the query after all contexts were updated in a transaction that is not saved.
  ///
  /// @throws Rejection.Unavailable if the log has too many entries that the views do not have
  <T> T queryAllUnsaved(TableWork<T> question) {
    return thread.callWithoutSaving(
        viewTables -> {
          var left = UNSAVED_ENTRIES_MAX;
          for (var mark = viewTables.mark(); ; ) {
            var changedContexts = log.changes(mark, CONTEXTS_PAGE);
            if (changedContexts.mark() == mark) {
              return question.run(viewTables);
            }
            for (var context : changedContexts.contexts()) {
              left -= 1 + foldUnsavedOrForget(viewTables, context, left);
            }
            mark = changedContexts.mark();
          }
        });
  }

  private int foldUnsavedOrForget(ViewTables viewTables, ContextId context, int max)
      throws SQLException {
    try {
      return foldUnsaved(viewTables, context, max);
    } catch (Rejection.Gone | Rejection.NotFound _) {
      viewTables.forget(context);
      return 0;
    } catch (Rejection.Damaged _) {
      return 0;
    }
  }

  /// Folds the entries that the views lack. Unlike [#update], this reads the log on the thread of
  /// the views, as there is only one transaction. Returns the number of entries.
  private int foldUnsaved(ViewTables viewTables, ContextId context, int max) throws SQLException {
    var head = log.head(context);
    var at = viewTables.contexts().position(context);
    if (at.after(head)) {
      viewTables.forget(context);
      at = Position.START;
    }
    var folded = 0;
    while (head.after(at)) {
      if (folded >= max) {
        throw new Rejection.Unavailable("the views cannot be written and are far behind the log");
      }
      var page = page(context, at);
      fold(viewTables, page);
      folded += page.entries().size();
      at = page.entries().getLast().position();
    }
    return folded;
  }

  /// Held by the caller that updates a context, and removed with its last user.
  private static final class UpdateLock {
    final ReentrantLock lock = new ReentrantLock();
    int callers;
  }

  private <T> T update(ContextId context, QueryStep<T> known, TableWork<T> question) {
    var entry =
        locks.compute(
            context,
            (_, found) -> {
              var joined = found == null ? new UpdateLock() : found;
              joined.callers++;
              return joined;
            });
    try {
      var alone = entry.lock.tryLock();
      if (!alone) {
        entry.lock.lockInterruptibly();
      }
      try {
        return updateFrom(
            alone
                ? known
                : thread.call(viewTables -> queryIfCurrent(viewTables, context, question)),
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

  private <T> T updateFrom(QueryStep<T> known, ContextId context, TableWork<T> question) {
    var queryStep = known;
    while (queryStep.answer().isEmpty()) {
      var at = queryStep.at();
      var head = queryStep.head();
      if (at.after(head)) {
        // The log was restored to an earlier state: the views hold events that it no longer has.
        forget(context);
        queryStep = new QueryStep<>(Position.START, head, Optional.empty());
      } else {
        var page = page(context, at);
        queryStep = thread.call(viewTables -> fold(viewTables, page, head, question));
      }
    }
    return queryStep.answer().get();
  }

  private <T> QueryStep<T> queryIfCurrent(
      ViewTables viewTables, ContextId context, TableWork<T> question) throws SQLException {
    var at = viewTables.contexts().position(context);
    var head = log.head(context);
    return new QueryStep<>(
        at, head, at.equals(head) ? Optional.of(question.run(viewTables)) : Optional.empty());
  }

  /// Removes all data of a context, also from the disk.
  void forget(ContextId context) {
    if (thread.call(viewTables -> viewTables.forget(context))) {
      thread.eraseDeleted();
    }
  }

  /// Updates one context, in as many transactions as it has pages, or removes it if it was deleted.
  void updateOrForget(ContextId context) {
    try {
      updateAndQuery(context, _ -> true);
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
  record EntryPage(ContextId context, Position after, List<Entry> entries, long shared) {}

  /// Reads the next entries of a context. Call it on any thread but that of the views.
  EntryPage page(ContextId context, Position after) {
    var shared = log.inspect(context, ContextState::sharedTo);
    var entries = log.read(context, after, PAGE);
    if (entries.isEmpty()) {
      throw new IllegalStateException("the log of " + context + " ends before its head");
    }
    return new EntryPage(context, after, entries, shared);
  }

  private <T> QueryStep<T> fold(
      ViewTables viewTables, EntryPage page, Position head, TableWork<T> question)
      throws SQLException {
    // Throws if the context was deleted meanwhile, so that a removed context is not added again.
    log.head(page.context());
    fold(viewTables, page);
    var now = viewTables.contexts().position(page.context());
    return new QueryStep<>(
        now, head, head.after(now) ? Optional.empty() : Optional.of(question.run(viewTables)));
  }

  /// Applies the entries of the page that the views lack. Call it only from work.
  static void fold(ViewTables viewTables, EntryPage page) throws SQLException {
    var at = viewTables.contexts().position(page.context());
    if (!page.after().after(at)) {
      ViewFold.fold(
          viewTables, page.entries().stream().filter(e -> e.position().after(at)).toList());
      if (at.seq() < page.shared()) {
        // Done now, and not at the fork event: until then, the fork would seem to own the shared
        // tasks.
        viewTables.tasks().markShared(page.context(), page.shared());
        viewTables.stored().markShared(page.context(), page.shared());
      }
    }
  }
}
