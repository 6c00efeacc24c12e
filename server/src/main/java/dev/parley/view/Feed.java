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

/// Which contexts move on, in one order over all of them, for those who watch many.
///
/// A reader is a cursor, as with a context: there is no queue. What happened in a context is read from
/// the log, between the two positions of a [Move]. The last hundred thousand moves are kept.
public final class Feed {

  /// A place in the order: after move `n` under a mark of the log, or within it, after `within` in its
  /// context.
  public record Cursor(long mark, int n, @Nullable Position within) {

    public Cursor(long mark, int n) {
      this(mark, n, null);
    }

    /// The same move, of which everything up to `position` was read.
    public Cursor within(Position position) {
      return new Cursor(mark, n, position);
    }

    /// Reads what [#toString] wrote.
    ///
    /// @throws Rejection.Invalid for anything else
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
        // Falls through to the one answer for everything that is not a cursor.
      }
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream: " + text);
    }

    @Override
    public String toString() {
      return mark + "-" + n + (within == null ? "" : "-" + within);
    }
  }

  /// What happened in a context between two positions. If `to` is missing, it was deleted.
  public record Move(
      Cursor cursor, ContextId context, String owner, Position from, @Nullable Position to) {}

  /// Some moves, and where to go on.
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

  /// After everything that has happened by now.
  public Cursor end() {
    return thread.call(tables -> new Cursor(tables.mark(), ALL));
  }

  /// Up to `limit` moves after `cursor`.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if what follows the cursor is no longer known
  public Page after(Cursor cursor, int limit) {
    return thread.call(
        tables -> {
          var last = tables.mark();
          if (cursor.mark() < tables.moves().pruned() || cursor.mark() > last) {
            throw new Rejection.Invalid(
                "cursor-lost", "what follows " + cursor + " is no longer known");
          }
          var moves = tables.moves().page(cursor, limit);
          var next = moves.size() == limit ? moves.getLast().cursor() : new Cursor(last, ALL);
          return new Page(moves, next);
        });
  }

  /// Waits until there may be more after `cursor`. False if `patience` ran out first.
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

  /// True if the views of this generation know all that there is, and have noted it.
  boolean live(long generation) {
    return live.get() == generation;
  }

  /// The views of this generation know all that there is, and have noted it.
  void caughtUp(long generation) {
    live.set(generation);
  }

  /// Begins to look whether the context moves on, until it is closed.
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

  /// The views have taken in what is new in these contexts.
  void moved(List<ContextId> contexts) {
    if (!lookouts.isEmpty()) {
      for (var context : contexts) {
        lookouts.getOrDefault(context, Set.of()).forEach(Lookout::tell);
      }
    }
  }

  /// Somebody who waits for one context, which need not exist. The monitor guards `moved`.
  public final class Lookout implements AutoCloseable {
    private final ContextId context;
    private boolean moved;

    private Lookout(ContextId context) {
      this.context = context;
    }

    /// Waits until the context has moved on since this was last asked. False if `patience` ran out first.
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

  /// The views have come to this mark.
  void cameTo(long newMark) {
    mark.accumulateAndGet(newMark, Math::max);
    waiters.forEach(LockSupport::unpark);
  }

  /// Waits until there is something to take in, if somebody waits for it; else, or if there is nothing,
  /// for `pause`. For the follower's thread, which may be unparked meanwhile.
  void rest(Duration pause) throws InterruptedException {
    follower = Thread.currentThread();
    if (waiters.isEmpty() && lookouts.isEmpty()) {
      LockSupport.parkNanos(this, pause.toNanos());
    } else {
      if (log.awaitChange(mark.get(), pause)) {
        // What else happens meanwhile is taken in at once with it.
        LockSupport.parkNanos(this, GATHER.toNanos());
      }
    }
  }
}
