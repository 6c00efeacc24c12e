package dev.parley.log;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// An append that is waiting to be durable. Its thread waits here; the writer completes it once.
final class PendingAppend {

  private static final Object DURABLE = new Object();
  private static final byte[] NOTHING = {};

  private final CachedContext context;
  private final int events;
  private final long weight;
  private List<StoredRun> runs;
  private byte[] chunk;
  private @Nullable AppendExtra extra;
  private final int generation;
  private final Thread thread = Thread.currentThread();
  private volatile @Nullable Object outcome;

  /// The other threads that wait for the outcome, if there ever was one.
  private volatile @Nullable Set<Thread> others;

  /// Data that is stored together with the append.
  sealed interface AppendExtra permits NewKey, PreparedFork {}

  /// An idempotency key.
  record NewKey(AppendGuard.IdempotencyKey once, AppendResult appended) implements AppendExtra {}

  /// An append of `runs`, which follow `before`. The caller holds the context's lock.
  PendingAppend(
      CachedContext context,
      Position before,
      List<StoredRun> runs,
      @Nullable AppendExtra appendExtra) {
    this.context = context;
    this.generation = context.generation;
    this.events = StoredRun.size(runs);
    if (runs.isEmpty()) {
      this.runs = runs;
      this.chunk = NOTHING;
    } else {
      var encodedChunk = ChunkWriter.encode(before, runs, context.recentIds);
      this.runs = encodedChunk.runs();
      this.chunk = context.cipher.encrypt(encodedChunk.chunk(), StoredValue.chunk(context.number));
    }
    this.weight = StoredRun.weight(this.runs);
    this.extra = appendExtra;
  }

  CachedContext context() {
    return context;
  }

  /// True if the events that these follow are not lost. For the writer thread.
  boolean current() {
    return generation == context.generation;
  }

  /// The appends whose positions are still valid. Rejects those that follow lost events.
  static List<PendingAppend> keepCurrent(List<PendingAppend> arrived) {
    var current = new ArrayList<PendingAppend>(arrived.size());
    for (var pendingAppend : arrived) {
      var preparedFork = pendingAppend.fork();
      if (preparedFork != null && preparedFork.source().deleted()) {
        pendingAppend.context().rollBack();
        pendingAppend.complete(
            new Rejection.Gone("the context was deleted: " + preparedFork.source().id));
      } else if (pendingAppend.current()) {
        current.add(pendingAppend);
      } else if (pendingAppend.context().deleted()) {
        pendingAppend.complete(
            new Rejection.Gone("the context was deleted: " + pendingAppend.context().id));
      } else {
        pendingAppend.complete(
            new Rejection.Unavailable("the store failed in an earlier write to this context"));
      }
    }
    return current;
  }

  /// The number of events.
  int events() {
    return events;
  }

  /// The approximate memory that the events take, in bytes.
  long weight() {
    return weight;
  }

  // The following methods are for the writer thread.

  List<StoredRun> runs() {
    return runs;
  }

  byte[] chunk() {
    return chunk;
  }

  @Nullable NewKey key() {
    return extra instanceof NewKey key ? key : null;
  }

  @Nullable PreparedFork fork() {
    return extra instanceof PreparedFork preparedFork ? preparedFork : null;
  }

  /// Releases the events from memory, because the context keeps its last append.
  void releaseEntries() {
    runs = List.of();
    chunk = NOTHING;
    extra = null;
  }

  void complete(@Nullable Rejection failure) {
    outcome = failure == null ? DURABLE : failure;
    LockSupport.unpark(thread);
    var waiting = others;
    if (waiting != null) {
      waiting.forEach(LockSupport::unpark);
    }
  }

  boolean completed() {
    return outcome != null;
  }

  /// Waits until the append is durable. An interrupt does not end the wait, as the outcome would be
  /// unknown; it is restored afterwards.
  ///
  /// @throws Rejection.Unavailable if the append is not durable and never will be
  void await() {
    var me = Thread.currentThread();
    if (!me.equals(thread)) {
      // This comes first, so that either the outcome is seen below or this thread is unparked.
      others().add(me);
    }
    var interrupted = false;
    while (outcome == null) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      me.interrupt();
    }
    if (outcome instanceof Rejection failure) {
      throw failure;
    }
  }

  private synchronized Set<Thread> others() {
    var waiting = others;
    if (waiting == null) {
      waiting = ConcurrentHashMap.newKeySet();
      others = waiting;
    }
    return waiting;
  }

  /// The start of a fork: the ranges that it shares, and the state and time of the last shared entry.
  ///
  /// `state` is not changed any more.
  record PreparedFork(
      CachedContext source, List<SharedRange> sharedRanges, ContextState state, long millis)
      implements PendingAppend.AppendExtra {

    /// The last shared position.
    Position cut() {
      return state.head();
    }

    /// True if some shared entries are not in segments yet. For the writer thread.
    boolean needsSealing() {
      return cut().after(source.sealedTo);
    }
  }
}
