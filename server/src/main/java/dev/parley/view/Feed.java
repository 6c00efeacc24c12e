package dev.parley.view;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
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
/// A reader keeps only a cursor; there is no queue per reader. A [Move] names two positions, and
/// the reader gets the events between them from the log. The feed keeps the last 100,000 entries.
public final class Feed {

  /// A position in the feed: after entry `n` under a mark of the log, or inside that entry, after
  /// the position `within` of its context.
  public record Cursor(long mark, int n, @Nullable Position within) {

    public Cursor(long mark, int n) {
      this(mark, n, null);
    }

    /// Returns a cursor for the same entry, of which everything up to `position` was read.
    public Cursor within(Position position) {
      return new Cursor(mark, n, position);
    }

    /// Parses what [#toString] wrote.
    ///
    /// @throws Rejection.Invalid for any other text
    public static Cursor parse(String text) {
      var words = text.split("-", -1);
      try {
        if (words.length == 2 || words.length == 3) {
          var mark = Long.parseLong(words[0]);
          var n = Integer.parseInt(words[1]);
          if (mark >= 0 && n >= 0) {
            return new Cursor(mark, n, words.length == 2 ? null : Position.parse(words[2]));
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
  public record Move(
      Cursor cursor, ContextId context, String owner, Position from, @Nullable Position to) {}

  /// Some entries, and the cursor after the last one.
  public record Page(List<Move> moves, Cursor next) {}

  private static final Duration GATHER = Duration.ofMillis(5);
  private static final int ALL = Integer.MAX_VALUE;

  private final EventLog log;
  private final ViewThread thread;
  private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();
  private final Map<ContextId, Set<Lookout>> lookouts = new ConcurrentHashMap<>();
  private final AtomicLong live = new AtomicLong(-1);
  private final AtomicLong mark = new AtomicLong(-1);
  private volatile @Nullable Thread follower;

  Feed(EventLog log, ViewThread thread) {
    this.log = log;
    this.thread = thread;
  }

  /// Returns the cursor after the last entry.
  public Cursor end() {
    return thread.call(tables -> new Cursor(tables.mark(), ALL));
  }

  /// Returns up to `limit` entries after `cursor`.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the feed no longer has the entries that follow the
  ///     cursor
  public Page after(Cursor cursor, int limit) {
    return thread.call(
        tables -> {
          var last = tables.mark();
          if (cursor.mark() < tables.moves().pruned() || cursor.mark() > last) {
            throw new Rejection.Invalid(
                "cursor-lost", "the entries after " + cursor + " are no longer available");
          }
          var moves = tables.moves().page(cursor, limit);
          var next = moves.size() == limit ? moves.getLast().cursor() : new Cursor(last, ALL);
          return new Page(moves, next);
        });
  }

  /// Waits until there may be entries after `cursor`. False if `patience` ran out first.
  public boolean await(Cursor cursor, Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    var me = Thread.currentThread();
    waiters.add(me);
    try {
      if (follower != null) {
        LockSupport.unpark(follower);
      }
      while (cursor.n() == ALL && mark.get() <= cursor.mark()) {
        var left = deadline - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        LockSupport.parkNanos(this, left);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
      return true;
    } finally {
      waiters.remove(me);
    }
  }

  /// Returns true if the views of this generation have processed the whole log once.
  boolean live(long generation) {
    return live.get() == generation;
  }

  /// Records that the views of this generation have processed the whole log.
  void caughtUp(long generation) {
    live.set(generation);
  }

  /// Starts to watch a context, until the watcher is closed.
  public Lookout lookout(ContextId context) {
    var lookout = new Lookout(context);
    lookouts.compute(
        context,
        (_, before) -> {
          Set<Lookout> all = before == null ? ConcurrentHashMap.newKeySet() : before;
          all.add(lookout);
          return all;
        });
    if (follower != null) {
      LockSupport.unpark(follower);
    }
    return lookout;
  }

  /// Wakes the watchers of these contexts, after the views have been updated.
  void moved(List<ContextId> contexts) {
    if (!lookouts.isEmpty()) {
      for (var context : contexts) {
        lookouts.getOrDefault(context, Set.of()).forEach(Lookout::tell);
      }
    }
  }

  /// Waits for changes of one context, which need not exist yet. The monitor guards `moved`.
  public final class Lookout implements AutoCloseable {
    private final ContextId context;
    private boolean moved;

    private Lookout(ContextId context) {
      this.context = context;
    }

    /// Waits until the context has changed since the last call. False if `patience` ran out first.
    public synchronized boolean await(Duration patience) throws InterruptedException {
      var deadline = System.nanoTime() + patience.toNanos();
      for (var left = patience.toMillis(); !moved && left > 0; ) {
        wait(left);
        left = (deadline - System.nanoTime() + 999_999) / 1_000_000;
      }
      var was = moved;
      moved = false;
      return was;
    }

    private synchronized void tell() {
      moved = true;
      notifyAll();
    }

    @Override
    public void close() {
      lookouts.computeIfPresent(
          context,
          (_, all) -> {
            all.remove(this);
            return all.isEmpty() ? null : all;
          });
    }
  }

  /// Records that the views have processed the log up to this mark, and wakes readers.
  void cameTo(long newMark) {
    mark.accumulateAndGet(newMark, Math::max);
    waiters.forEach(LockSupport::unpark);
  }

  /// Waits for new entries if a reader waits for them, and otherwise for `pause`. Only the refresh
  /// thread calls it; readers may unpark that thread.
  void rest(Duration pause) throws InterruptedException {
    follower = Thread.currentThread();
    if (waiters.isEmpty() && lookouts.isEmpty()) {
      LockSupport.parkNanos(this, pause.toNanos());
    } else {
      if (log.awaitChange(mark.get(), pause)) {
        // Entries that are appended during this pause are processed together with the first one.
        LockSupport.parkNanos(this, GATHER.toNanos());
      }
    }
  }
}
