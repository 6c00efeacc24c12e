package dev.parley.projection;

import dev.parley.log.ChangedContexts;
import dev.parley.log.EventLog;
import dev.parley.projection.ViewUpdater.EntryPage;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// Updates the views of all contexts that changed, in the log's order of changes.
///
/// Many short contexts are saved in one transaction, because a transaction costs more than the fold
/// of a short context. A transaction has at most one [CatchUpBatch] and ends early if a query
/// waits for the thread of the views. It contains the new positions of its contexts, so after a
/// crash the views continue behind the last transaction that was saved.
///
/// Callers take turns: one caller at a time processes a page of contexts, and holds at most one batch
/// of entries in memory.
final class ViewCatchUp {

  /// How long a list over all contexts waits for the views.
  static final Duration PATIENCE = Duration.ofSeconds(10);

  /// How many contexts a caller processes before the next one has its turn.
  static final int CONTEXTS_PAGE = 500;

  private final EventLog log;
  private final ViewThread thread;
  private final ViewUpdater updater;
  private final ContextFeed contextFeed;
  private final CatchUpProgress progress;
  private final Time time;

  /// Held while a page of contexts is processed, so that two callers do not read the same entries.
  private final ReentrantLock turn = new ReentrantLock();

  ViewCatchUp(
      EventLog log, ViewThread thread, ViewUpdater updater, ContextFeed contextFeed, Time time) {
    this.log = log;
    this.thread = thread;
    this.updater = updater;
    this.contextFeed = contextFeed;
    this.time = time;
    this.progress = new CatchUpProgress(log, time);
  }

  /// The mark up to which the views are folded, and their generation.
  private record ViewProgress(long mark, long generation) {}

  private ViewProgress viewProgress() {
    return thread.call(viewTables -> new ViewProgress(viewTables.mark(), thread.generation()));
  }

  /// Marks the feed as current if the log has no new entries, so that a reader that watches a new
  /// log from its start gets every entry.
  void start() {
    var at = viewProgress();
    if (log.changes(at.mark(), 1).mark() == at.mark()) {
      markCaughtUp(at.mark(), at.generation());
    }
  }

  /// What a step found: the mark up to which the views are now folded, and that of the last change.
  private record Step(long mark, long last, long generation) {
    boolean complete() {
      return mark >= last;
    }
  }

  /// Updates all contexts, however long it takes, or until `stopped`. While tasks append events, this
  /// leaves them half of the time.
  void updateInBackground(BooleanSupplier stopped) {
    var last = Long.MAX_VALUE;
    while (!stopped.getAsBoolean()) {
      var began = time.nanos();
      var step = step(time.deadline(Time.WAIT_MAX));
      if (step.isEmpty() || step.get().complete()) {
        return;
      }
      if (step.get().last() > last) {
        time.pauseBriefly(Duration.ofNanos(time.nanos() - began));
      }
      last = step.get().last();
    }
  }

  /// Updates all contexts that changed before this call.
  ///
  /// @return the generation of the views that was updated, or empty if this takes longer than
  ///     [#PATIENCE]
  OptionalLong updateAll() {
    var deadline = time.deadline(PATIENCE);
    var target = Long.MAX_VALUE;
    var step = step(deadline);
    while (step.isPresent()) {
      var now = step.get();
      target = Math.min(target, now.last());
      // Contexts that change all the time might be behind the target for ever.
      if (now.complete() || (time.remaining(deadline) <= 0 && now.mark() >= target)) {
        return OptionalLong.of(now.generation());
      }
      step = time.remaining(deadline) <= 0 ? Optional.empty() : step(deadline);
    }
    return OptionalLong.empty();
  }

  /// Returns the answer to a query that would wait too long.
  Rejection.Unavailable unavailable() {
    return new Rejection.Unavailable(
        "the lists are not available yet: " + progress.text(viewProgress().mark()));
  }

  /// Processes one page of contexts. Empty if other callers had the turn until the deadline.
  private Optional<Step> step(long deadline) {
    try {
      if (!turn.tryLock(time.remaining(deadline), TimeUnit.NANOSECONDS)) {
        return Optional.empty();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("interrupted while updating the views");
    }
    try {
      return Optional.of(step());
    } finally {
      turn.unlock();
    }
  }

  private Step step() {
    var at = viewProgress();
    var changedContexts = log.changes(at.mark(), CONTEXTS_PAGE);
    if (changedContexts.mark() > at.mark()) {
      update(changedContexts.contexts());
      if (advance(changedContexts, at.generation())) {
        contextFeed.advanceTo(changedContexts.mark());
      }
      contextFeed.signalWatchers(changedContexts.contexts());
      progress.add(changedContexts.contexts().size(), changedContexts.mark());
    }
    var step = new Step(changedContexts.mark(), changedContexts.last(), at.generation());
    if (step.complete()) {
      progress.complete();
      markCaughtUp(step.mark(), step.generation());
    }
    return step;
  }

  /// Records that the views have processed these changes. False if they were discarded meanwhile.
  private boolean advance(ChangedContexts changedContexts, long generation) {
    return thread.call(
        viewTables -> {
          if (thread.generation() != generation) {
            return false;
          }
          if (changedContexts.mark() > viewTables.mark()) {
            viewTables.feed().write(changedContexts, viewTables.contexts());
            viewTables.advance(changedContexts.mark());
          }
          return true;
        });
  }

  /// Does nothing if the views were discarded meanwhile: the new ones have not processed the log.
  private void markCaughtUp(long mark, long generation) {
    if (contextFeed.isCaughtUp(generation)) {
      return;
    }
    boolean marked =
        thread.call(
            viewTables -> {
              if (thread.generation() != generation) {
                return false;
              }
              viewTables.feed().markCaughtUp(mark);
              return true;
            });
    if (marked) {
      contextFeed.markCaughtUp(generation);
      contextFeed.advanceTo(mark);
    }
  }

  private void update(List<ContextId> contexts) {
    var batch = new CatchUpBatch();
    for (var known : positions(contexts)) {
      var page = onlyPage(known);
      if (page.isPresent()) {
        add(batch, page.get());
      }
    }
    fold(batch);
  }

  private void add(CatchUpBatch batch, EntryPage page) {
    if (!batch.add(page)) {
      fold(batch);
      var _ = batch.add(page);
    }
    if (batch.full()) {
      // At once, so that a large page is not kept while the next one is read.
      fold(batch);
    }
  }

  private record KnownContext(ContextId context, Position position) {}

  private List<KnownContext> positions(List<ContextId> contexts) {
    return thread.call(
        viewTables -> {
          var known = new ArrayList<KnownContext>();
          for (var context : contexts) {
            known.add(new KnownContext(context, viewTables.contexts().position(context)));
          }
          return known;
        });
  }

  /// Reads the entries that the views lack. Empty if there are none, and for a context that cannot
  /// be part of a batch, which is then updated by itself.
  private Optional<EntryPage> onlyPage(KnownContext known) {
    try {
      var head = log.head(known.context());
      if (head.equals(known.position())) {
        return Optional.empty();
      }
      if (head.after(known.position())) {
        var page = updater.page(known.context(), known.position());
        if (page.entries().size() < ViewUpdater.PAGE) {
          return Optional.of(page);
        }
      }
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged _) {
      // Handled by the updater.
    }
    updater.updateOrForget(known.context());
    return Optional.empty();
  }

  /// Saves the batch in as few transactions as possible, and empties it.
  private void fold(CatchUpBatch batch) {
    var pages = batch.take();
    while (!pages.isEmpty()) {
      var folded = thread.call(viewTables -> foldUntilQuery(viewTables, pages));
      pages.subList(0, folded.pages()).clear();
      folded.refused().forEach(updater::updateOrForget);
    }
  }

  private record Folded(int pages, List<ContextId> refused) {}

  /// Applies pages until a query waits, but at least one.
  private Folded foldUntilQuery(ViewTables viewTables, List<EntryPage> batch) throws SQLException {
    var refused = new ArrayList<ContextId>();
    var pages = 0;
    while (pages < batch.size() && (pages == 0 || !thread.hasWaitingWork())) {
      var page = batch.get(pages++);
      try {
        // Throws if the context was deleted meanwhile, so that a removed context is not added
        // again.
        log.head(page.context());
      } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged _) {
        refused.add(page.context());
        continue;
      }
      ViewUpdater.fold(viewTables, page);
    }
    return new Folded(pages, refused);
  }
}
