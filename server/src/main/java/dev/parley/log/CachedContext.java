package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.log.OpenTask.OpenBlock;
import dev.parley.log.PendingAppend.PreparedFork;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A context in memory: its state, its newest entries, and what waits for more.
///
/// `lock` guards the fields that appends use: the state including events that are not durable yet,
/// the state folded from durable events, the idempotency keys, and the last pending append. Only
/// the writer thread adds to the window and changes the unsealed part.
final class CachedContext {

  private static final int CLOSED = -1;
  private static final AtomicReferenceFieldUpdater<CachedContext, EntryWindow> WINDOW =
      AtomicReferenceFieldUpdater.newUpdater(CachedContext.class, EntryWindow.class, "window");

  /// Who deletes the context, and when. `principal` is null if the server does.
  record Deletion(@Nullable String principal, long atMillis) {}

  /// Artifact heads to store: all heads of a context, or only the changed ones.
  record HeadChanges(boolean all, Map<ArtifactId, ArtifactHead> heads) {}

  final ContextId id;
  private final MemoryLimiters memory;
  final ReentrantLock lock = new ReentrantLock();
  final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();

  // Guarded by lock.
  volatile ContextStatus status;
  long number;
  EventIdGenerator ids = new EventIdGenerator(0, 0);
  volatile ContentCipher cipher = ContentCipher.NONE;
  ContextState state = new ContextState();
  ContextState folded = new ContextState();
  long foldedMillis;
  long lastMillis;
  int generation;
  final ChunkWriter.RecentIds recentIds = new ChunkWriter.RecentIds();
  @Nullable PendingAppend lastAppend;
  final IdempotencyKeyCache keys;
  final Set<ArtifactId> changedHeads = new HashSet<>();
  boolean allHeadsUnsaved;

  // True from the request to delete until that fails; any thread may read it.
  volatile boolean deleting;

  // The request to delete; set together with `deleting`.
  volatile @Nullable Deletion deletion;

  // The number of users of this object, or CLOSED when it is about to be dropped.
  private final AtomicInteger pins = new AtomicInteger();

  // Changed only by updateWindow.
  volatile EntryWindow window = EntryWindow.empty(Position.START);

  // Changed only by the writer thread.
  volatile List<SharedRange> sharedRanges = List.of();
  boolean holdsSealed;
  final List<StoredBlock> unsealedBlocks = new ArrayList<>();
  volatile Position sealedTo = Position.START;
  int unsealedCount;
  int unsealedBytes;
  long unsealedWeight;
  volatile long lastBlock;

  enum ContextStatus {
    ABSENT,
    PRESENT,
    DELETED,
    /// The stored data of the context cannot be read.
    DAMAGED
  }

  CachedContext(ContextId id, ContextStatus contextStatus, MemoryLimiters memory) {
    this.id = id;
    this.status = contextStatus;
    this.memory = memory;
    this.keys = new IdempotencyKeyCache(memory.keys());
  }

  /// Depends only on the id, so that sets of contexts have an order that a simulation can repeat.
  @Override
  public int hashCode() {
    return id.hashCode();
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  /// Replaces the window. The writer adds to it; any thread may drop sealed entries from it.
  void updateWindow(UnaryOperator<EntryWindow> change) {
    while (true) {
      var before = window;
      var after = change.apply(before);
      if (WINDOW.compareAndSet(this, before, after)) {
        memory.windows().addBytes(after.weight() - before.weight());
        return;
      }
    }
  }

  /// Keeps this object in use. False if it is about to be dropped.
  boolean pin() {
    return pins.getAndUpdate(n -> n == CLOSED ? CLOSED : n + 1) != CLOSED;
  }

  /// Ends one use. True if it was the last.
  boolean unpin() {
    return pins.decrementAndGet() == 0;
  }

  /// Closes this object to new users. False if it is in use.
  boolean tryClose() {
    return pins.compareAndSet(0, CLOSED);
  }

  void reopen() {
    pins.set(0);
  }

  /// Throws if the context does not exist or cannot be used.
  void checkExists() {
    if (deleting) {
      throw new Rejection.Gone("the context was deleted: " + id);
    }
    switch (status) {
      case ABSENT -> throw new Rejection.NotFound("no such context: " + id);
      case DELETED -> throw new Rejection.Gone("the context was deleted: " + id);
      case DAMAGED -> throw ContextDamage.rejection(id, "see the server's log");
      case PRESENT -> {}
    }
  }

  /// Throws like [#checkExists], or if the creation of the context is not durable yet.
  void checkDurable() {
    checkExists();
    if (window.head().equals(Position.START)) {
      throw new Rejection.NotFound("no such context: " + id);
    }
  }

  /// True if the context was deleted. For the writer thread, which alone deletes contexts.
  boolean deleted() {
    return status == ContextStatus.DELETED;
  }

  /// Assigns positions and times to the drafts, and checks them against the state. The result takes
  /// effect only when the caller hands it to the writer.
  PreparedAppend prepare(List<EventDraft> drafts, long nowMillis) {
    // Deltas alone cannot be rejected half-way and can always be encoded. They are frequent, so the
    // copy of the state is saved.
    return prepare(onlyDeltas(drafts) ? state : state.copy(), drafts, nowMillis);
  }

  /// Does the same for the first events of a fork.
  PreparedAppend prepareFork(PreparedFork preparedFork, List<EventDraft> drafts, long nowMillis) {
    lastMillis = preparedFork.millis();
    var preparedAppend = prepare(preparedFork.state().copy(), drafts, nowMillis);
    var runs =
        preparedAppend.runs().stream()
            .map(
                run ->
                    run instanceof StoredEntry storedEntry
                        ? ForkedTaskEnds.withDeltas(storedEntry, preparedFork.state())
                        : run)
            .toList();
    return new PreparedAppend(
        preparedAppend.before(),
        runs,
        preparedAppend.first(),
        preparedAppend.state(),
        preparedAppend.millis());
  }

  private PreparedAppend prepare(ContextState next, List<EventDraft> drafts, long nowMillis) {
    var before = next.head();
    var runs = new StoredRun.Builder(drafts.size());
    var millis = Math.max(nowMillis, lastMillis);
    var first = next(before, drafts.getFirst());
    var position = first;
    for (var eventDraft : drafts) {
      position = runs.size() == 0 ? first : next(position, eventDraft);
      var textFrom = textFrom(next, eventDraft);
      next.validateAndApply(eventDraft, position);
      if (!runs.addDelta(eventDraft.origin(), eventDraft.event(), position, millis)) {
        runs.add(entry(eventDraft, position, millis, textFrom));
      }
    }
    return new PreparedAppend(before, runs.build(), first, next, millis);
  }

  private StoredEntry entry(EventDraft eventDraft, Position position, long millis, long textFrom) {
    return StoredEntry.fresh(
        new Entry(
            id,
            position,
            ids.of(position),
            Instant.ofEpochMilli(millis),
            eventDraft.origin(),
            eventDraft.event()),
        textFrom);
  }

  /// Entries to write after `before`, the first of their positions, and the state of the context
  /// after them.
  record PreparedAppend(
      Position before, List<StoredRun> runs, Position first, ContextState state, long millis) {

    AppendResult result(boolean replayed) {
      return new AppendResult(first, state.head(), replayed);
    }
  }

  /// Sets the start of a fork, once it is durable.
  void applyFork(PreparedFork preparedFork) {
    lock.lock();
    try {
      sharedRanges = preparedFork.sharedRanges();
      folded = preparedFork.state();
      foldedMillis = preparedFork.millis();
      sealedTo = preparedFork.cut();
      updateWindow(_ -> EntryWindow.empty(preparedFork.cut()));
    } finally {
      lock.unlock();
    }
  }

  /// The guard as it is stored: without the texts that a client has chosen or sent, if the context
  /// is encrypted.
  AppendGuard.IdempotencyKey stored(AppendGuard.IdempotencyKey key) {
    return stored(cipher, key);
  }

  static AppendGuard.IdempotencyKey stored(ContentCipher cipher, AppendGuard.IdempotencyKey key) {
    return cipher.encrypts()
        ? new AppendGuard.IdempotencyKey(
            key.principal(),
            cipher.fingerprint("key", key.key()),
            cipher.fingerprint("body", key.bodyHash()))
        : key;
  }

  /// Drops all events that did not become durable.
  void rollBack() {
    lock.lock();
    try {
      generation++;
      state = durableState().copy();
      lastMillis = durableMillis();
      lastAppend = null;
      keys.rollBack();
      if (status == ContextStatus.PRESENT && state.head().equals(Position.START)) {
        status = ContextStatus.ABSENT;
      }
    } finally {
      lock.unlock();
    }
  }

  /// The state as of the last durable event. The caller holds the lock.
  ///
  /// It is folded on demand, not at each commit: the window contains all entries that it lacks.
  ContextState durableState() {
    for (var run : window.after(folded.head())) {
      fold(run);
    }
    return folded;
  }

  private void fold(StoredRun run) {
    switch (run) {
      case DeltaRun deltas -> {
        for (var i = 0; i < deltas.size(); i++) {
          folded.apply(deltas.origin(), deltas.delta(i), deltas.position(i));
        }
        foldedMillis = deltas.millis(deltas.size() - 1);
      }
      case StoredEntry(var entry, _, _, _) -> {
        folded.apply(entry.origin(), entry.event(), entry.position());
        foldedMillis = entry.timestamp().toEpochMilli();
        changedHeads.addAll(ContextState.artifactsIn(entry.event()));
      }
    }
  }

  /// Artifact heads that differ from the stored ones. The caller holds the lock.
  HeadChanges unsavedHeads() {
    var heads = new LinkedHashMap<ArtifactId, ArtifactHead>();
    if (allHeadsUnsaved) {
      heads.putAll(folded.artifacts());
    } else {
      for (var artifact : changedHeads) {
        var head = folded.artifacts().get(artifact);
        if (head != null) {
          heads.put(artifact, head);
        }
      }
    }
    return new HeadChanges(allHeadsUnsaved, heads);
  }

  /// Records that those heads are stored. For the writer thread, before further events are durable.
  void headsSaved() {
    lock.lock();
    try {
      changedHeads.clear();
      allHeadsUnsaved = false;
    } finally {
      lock.unlock();
    }
  }

  /// The time of the last durable event. The caller holds the lock.
  long durableMillis() {
    var _ = durableState();
    return foldedMillis;
  }

  /// Removes the keys from memory if they take too much of it. Called when this object is not in
  /// use.
  void releaseKeysIfScarce() {
    if (memory.keys().scarce()) {
      lock.lock();
      try {
        keys.release();
      } finally {
        lock.unlock();
      }
    }
  }

  /// Releases the memory that is counted for this object, because it is dropped.
  void dropped() {
    lock.lock();
    try {
      keys.release();
    } finally {
      lock.unlock();
    }
    updateWindow(entryWindow -> EntryWindow.empty(entryWindow.head()));
  }

  /// Clears everything except the fact that the context existed.
  void erased(long mark) {
    status = ContextStatus.DELETED;
    generation++;
    state = new ContextState();
    folded = new ContextState();
    keys.clear();
    changedHeads.clear();
    sharedRanges = List.of();
    updateWindow(_ -> EntryWindow.empty(Position.START));
    lastBlock = mark;
  }

  /// True if all entries are in segments and no append is pending.
  boolean idle() {
    lock.lock();
    try {
      return (lastAppend == null || lastAppend.completed())
          && state.head().equals(sealedTo)
          && window.head().equals(sealedTo);
    } finally {
      lock.unlock();
    }
  }

  private static Position next(Position head, EventDraft eventDraft) {
    if (!eventDraft.event().internal()) {
      return head.nextPublic();
    }
    if (head.k() >= PositionCodec.K_MAX) {
      throw new Rejection.Conflict(
          "too-many-internal-events", "a public event must follow before further internal ones");
    }
    return head.nextInternal();
  }

  private static long textFrom(ContextState state, EventDraft eventDraft) {
    return eventDraft.event() instanceof ContentComplete end
        ? state.wholeBlock(eventDraft.origin(), end).map(OpenBlock::firstSeq).orElse(0L)
        : 0;
  }

  private static boolean onlyDeltas(List<EventDraft> drafts) {
    var first = drafts.getFirst().origin();
    for (var eventDraft : drafts) {
      if (!(eventDraft.event() instanceof ContentDelta)
          || !Objects.equals(eventDraft.origin(), first)) {
        return false;
      }
    }
    return true;
  }
}
