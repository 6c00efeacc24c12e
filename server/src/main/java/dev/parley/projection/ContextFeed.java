package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Lists changes of all contexts in one order, for readers that watch many contexts.
///
/// A reader keeps only a cursor; there is no queue per reader. A [FeedEntry] names two positions, and
/// the reader gets the events between them from the log. The feed keeps the last 100,000 entries.
public final class ContextFeed {

  /// A position in the feed: after entry `n` under a mark of the log, or inside that entry, after
  /// the position `within` of its context.
  public record FeedCursor(long mark, int n, @Nullable Position within) {

    public FeedCursor(long mark, int n) {
      this(mark, n, null);
    }

    /// Returns a cursor for the same entry, of which everything up to `position` was read.
    public FeedCursor within(Position position) {
      return new FeedCursor(mark, n, position);
    }

    /// Parses what [#toString] wrote.
    ///
    /// @throws Rejection.Invalid for any other text
    public static FeedCursor parse(String text) {
      var words = text.split("-", -1);
      try {
        if (words.length == 2 || words.length == 3) {
          var mark = Long.parseLong(words[0]);
          var n = Integer.parseInt(words[1]);
          if (mark >= 0 && n >= 0) {
            return new FeedCursor(mark, n, words.length == 2 ? null : Position.parse(words[2]));
          }
        }
      } catch (NumberFormatException malformed) {
        // Rejected below, as any other invalid cursor.
      }
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream: " + text);
    }

    @Override
    public String toString() {
      return mark + "-" + n + (within == null ? "" : "-" + within);
    }
  }

  /// A context got new events between two positions, or was deleted, if `to` is null.
  public record FeedEntry(
      FeedCursor cursor, ContextId context, String owner, Position from, @Nullable Position to) {}

  /// What happens to the entries of the feed when the views are opened.
  public enum FeedStart {
    /// Cursors of readers stay valid.
    CONTINUE,
    /// Cursors of readers are lost, because another server has processed the log meanwhile.
    RESTART
  }

  /// Some entries, and the cursor after the last one.
  public record FeedPage(List<FeedEntry> entries, FeedCursor next) {}

  private static final Duration GATHER = Duration.ofMillis(5);
  private static final int ALL = Integer.MAX_VALUE;

  private final EventLog log;
  private final ViewThread thread;
  private final Time time;
  private final Set<Runnable> waiters = ConcurrentHashMap.newKeySet();
  private final Map<ContextId, Set<ContextWatcher>> watchers = new ConcurrentHashMap<>();
  private final AtomicLong caughtUpGeneration = new AtomicLong(-1);
  private final AtomicLong mark = new AtomicLong(-1);
  private volatile @Nullable Thread follower;

  ContextFeed(EventLog log, ViewThread thread, Time time) {
    this.log = log;
    this.thread = thread;
    this.time = time;
  }

  /// Returns the cursor after the last entry.
  public FeedCursor end() {
    return thread.call(viewTables -> new FeedCursor(viewTables.mark(), ALL));
  }

  /// Returns up to `limit` entries after `cursor`.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the feed no longer has the entries that follow the
  ///     cursor
  public FeedPage readAfter(FeedCursor feedCursor, int limit) {
    return thread.call(
        viewTables -> {
          var last = viewTables.mark();
          if (feedCursor.mark() < viewTables.feed().pruned() || feedCursor.mark() > last) {
            throw new Rejection.Invalid(
                "cursor-lost", "the entries after " + feedCursor + " are no longer available");
          }
          var moves = viewTables.feed().page(feedCursor, limit);
          var next = moves.size() == limit ? moves.getLast().cursor() : new FeedCursor(last, ALL);
          return new FeedPage(moves, next);
        });
  }

  /// Waits until there may be entries after `cursor`. False if `patience` ran out first; if it is
  /// zero, the views are not updated for this call.
  public boolean await(FeedCursor feedCursor, Duration patience) throws InterruptedException {
    if (mayHaveMore(feedCursor)) {
      return true;
    }
    if (!patience.isPositive()) {
      return false;
    }
    var deadline = time.deadline(patience);
    var me = Thread.currentThread();
    Runnable wake = () -> LockSupport.unpark(me);
    addWaiter(wake);
    try {
      while (!mayHaveMore(feedCursor)) {
        if (time.remaining(deadline) <= 0) {
          return false;
        }
        time.parkUntil(this, deadline);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
      return true;
    } finally {
      waiters.remove(wake);
    }
  }

  private boolean mayHaveMore(FeedCursor feedCursor) {
    return feedCursor.n() != ALL || mark.get() > feedCursor.mark();
  }

  /// Calls `listener` when there may be new entries, until the result is closed. The listener must
  /// be quick and must not block, and has one registration. Look for entries after this call:
  /// earlier ones are not reported.
  public EventLog.ChangeRegistration listen(Runnable listener) {
    addWaiter(listener);
    return () -> waiters.remove(listener);
  }

  private void addWaiter(Runnable wake) {
    waiters.add(wake);
    if (follower != null) {
      LockSupport.unpark(follower);
    }
  }

  /// Returns true if the views of this generation have processed the whole log once.
  boolean isCaughtUp(long generation) {
    return caughtUpGeneration.get() == generation;
  }

  /// Records that the views of this generation have processed the whole log.
  void markCaughtUp(long generation) {
    caughtUpGeneration.set(generation);
  }

  /// Starts to watch a context, until the watcher is closed.
  public ContextWatcher watch(ContextId context) {
    var contextWatcher = new ContextWatcher(context);
    watchers.compute(
        context,
        (_, before) -> {
          Set<ContextWatcher> all = before == null ? ConcurrentHashMap.newKeySet() : before;
          all.add(contextWatcher);
          return all;
        });
    if (follower != null) {
      LockSupport.unpark(follower);
    }
    return contextWatcher;
  }

  /// Wakes the watchers of these contexts, after the views have been updated.
  void signalWatchers(List<ContextId> contexts) {
    if (!watchers.isEmpty()) {
      for (var context : contexts) {
        watchers.getOrDefault(context, Set.of()).forEach(ContextWatcher::signal);
      }
    }
  }

  /// Waits for changes of one context, which need not exist yet. The monitor guards `changed`.
  public final class ContextWatcher implements AutoCloseable {
    private final ContextId context;
    private boolean changed;

    private ContextWatcher(ContextId context) {
      this.context = context;
    }

    /// Waits until the context has changed since the last call. False if `patience` ran out first.
    public synchronized boolean await(Duration patience) throws InterruptedException {
      var deadline = time.deadline(patience);
      while (!changed && time.remaining(deadline) > 0) {
        time.waitUntil(this, deadline);
      }
      var was = changed;
      changed = false;
      return was;
    }

    private synchronized void signal() {
      changed = true;
      notifyAll();
    }

    @Override
    public void close() {
      watchers.computeIfPresent(
          context,
          (_, all) -> {
            all.remove(this);
            return all.isEmpty() ? null : all;
          });
    }
  }

  /// Records that the views have processed the log up to this mark, and wakes readers.
  void advanceTo(long newMark) {
    mark.accumulateAndGet(newMark, Math::max);
    waiters.forEach(Runnable::run);
  }

  /// Waits for new entries if a reader waits for them, and otherwise for `pause`. Only the refresh
  /// thread calls it; readers may unpark that thread.
  void awaitChanges(Duration pause) throws InterruptedException {
    follower = Thread.currentThread();
    if (waiters.isEmpty() && watchers.isEmpty()) {
      time.parkUntil(this, time.deadline(pause));
    } else {
      if (log.awaitChange(mark.get(), pause)) {
        // Entries that are appended during this pause are processed together with the first one.
        time.pauseBriefly(GATHER);
      }
    }
  }
}
