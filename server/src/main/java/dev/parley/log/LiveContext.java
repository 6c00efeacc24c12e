package dev.parley.log;

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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A context in memory: its state, its newest entries, and the threads that wait for more.
///
/// `lock` guards the fields that appends use: the state including events that are not durable yet,
/// the state folded from durable events, the idempotency keys, and the last pending append. Only
/// the writer thread adds to the window and changes the unsealed part.
final class LiveContext {

  private static final int CLOSED = -1;
  private static final AtomicReferenceFieldUpdater<LiveContext, Window> WINDOW =
      AtomicReferenceFieldUpdater.newUpdater(LiveContext.class, Window.class, "window");

  /// Who deletes the context, and when. `principal` is null if the server does.
  record Deletion(@Nullable String principal, long atMillis) {}

  final ContextId id;
  private final ContextMemory memory;
  final ReentrantLock lock = new ReentrantLock();
  final Set<Thread> waiters = ConcurrentHashMap.newKeySet();

  // Guarded by lock.
  volatile Status status;
  long number;
  EventIds ids = new EventIds(0, 0);
  ContextState state = new ContextState();
  ContextState folded = new ContextState();
  long foldedMillis;
  long lastMillis;
  int generation;
  @Nullable Ticket lastTicket;
  final ContextKeys keys;
  final Set<ArtifactId> changedHeads = new HashSet<>();
  boolean allHeadsUnsaved;

  // True from the request to delete until that fails; any thread may read it.
  volatile boolean deleting;

  // The request to delete; set together with `deleting`.
  volatile @Nullable Deletion deletion;

  // The number of users of this object, or CLOSED when it is about to be dropped.
  private final AtomicInteger pins = new AtomicInteger();

  // Changed only by updateWindow.
  volatile Window window = Window.empty(Position.START);

  // Changed only by the writer thread.
  volatile List<Share> shares = List.of();
  boolean holdsSealed;
  final List<Long> unsealedBlocks = new ArrayList<>();
  volatile Position sealedTo = Position.START;
  int unsealedCount;
  int unsealedBytes;
  long unsealedWeight;
  volatile long lastBlock;

  enum Status {
    ABSENT,
    PRESENT,
    DELETED,
    /// The stored data of the context cannot be read.
    DAMAGED
  }

  /// An idempotency key and its principal.
  record KeyName(String principal, String key) {
    static KeyName of(Guard.Once once) {
      return new KeyName(once.principal(), once.key());
    }
  }

  /// The earlier use of a key.
  record StoredKey(String bodyHash, Appended appended) {}

  LiveContext(ContextId id, Status status, ContextMemory memory) {
    this.id = id;
    this.status = status;
    this.memory = memory;
    this.keys = new ContextKeys(memory.keys());
  }

  /// Replaces the window. The writer adds to it; any thread may drop sealed entries from it.
  void updateWindow(UnaryOperator<Window> change) {
    while (true) {
      var before = window;
      var after = change.apply(before);
      if (WINDOW.compareAndSet(this, before, after)) {
        memory.windows().count(after.held() - before.held());
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
  boolean closeToPins() {
    return pins.compareAndSet(0, CLOSED);
  }

  void openToPins() {
    pins.set(0);
  }

  /// Throws if the context does not exist or cannot be used.
  void check() {
    if (deleting) {
      throw new Rejection.Gone("the context was deleted: " + id);
    }
    switch (status) {
      case ABSENT -> throw new Rejection.NotFound("no such context: " + id);
      case DELETED -> throw new Rejection.Gone("the context was deleted: " + id);
      case DAMAGED -> throw Damage.of(id, "see the server's log");
      case PRESENT -> {}
    }
  }

  /// Throws like [#check], or if the creation of the context is not durable yet.
  void checkDurable() {
    check();
    if (window.head().equals(Position.START)) {
      throw new Rejection.NotFound("no such context: " + id);
    }
  }

  /// True if the context was deleted. For the writer thread, which alone deletes contexts.
  boolean deleted() {
    return status == Status.DELETED;
  }

  /// Assigns positions and times to the drafts, and checks them against the state. The result takes
  /// effect only when the caller hands it to the writer.
  Admitted admit(List<Draft> drafts, long nowMillis) {
    // Deltas alone cannot be rejected half-way and can always be encoded. They are frequent, so the
    // copy of the state is saved.
    return admit(uniform(drafts) ? state : state.copy(), drafts, nowMillis);
  }

  /// Does the same for the first events of a fork.
  Admitted admitFork(Fork fork, List<Draft> drafts, long nowMillis) {
    lastMillis = fork.millis();
    var admitted = admit(fork.state().copy(), drafts, nowMillis);
    var slots =
        admitted.slots().stream().map(slot -> ForkedEnds.withDeltas(slot, fork.state())).toList();
    return new Admitted(admitted.before(), slots, admitted.state(), admitted.millis());
  }

  private Admitted admit(ContextState next, List<Draft> drafts, long nowMillis) {
    var before = next.head();
    var slots = new ArrayList<Slot>(drafts.size());
    var millis = Math.max(nowMillis, lastMillis);
    var time = Instant.ofEpochMilli(millis);
    for (var draft : drafts) {
      var position = next(next.head(), draft);
      var textFrom = textFrom(next, draft);
      next.admit(draft, position);
      var entry = new Entry(id, position, ids.of(position), time, draft.origin(), draft.event());
      slots.add(Slot.fresh(entry, textFrom));
    }
    return new Admitted(before, slots, next, millis);
  }

  /// Entries to write after `before`, and the state of the context after them.
  record Admitted(Position before, List<Slot> slots, ContextState state, long millis) {}

  /// Sets the start of a fork, once it is durable.
  void adopt(Fork fork) {
    lock.lock();
    try {
      shares = fork.shares();
      folded = fork.state();
      foldedMillis = fork.millis();
      sealedTo = fork.cut();
      updateWindow(_ -> Window.empty(fork.cut()));
    } finally {
      lock.unlock();
    }
  }

  /// Drops all events that did not become durable.
  void rollBack() {
    generation++;
    state = durable().copy();
    lastMillis = durableMillis();
    lastTicket = null;
    keys.rollBack();
    if (status == Status.PRESENT && state.head().equals(Position.START)) {
      status = Status.ABSENT;
    }
  }

  /// The state as of the last durable event. The caller holds the lock.
  ///
  /// It is folded on demand, not at each commit: the window contains all entries that it lacks.
  ContextState durable() {
    for (var slot : window.after(folded.head(), Integer.MAX_VALUE)) {
      var entry = slot.entry();
      folded.apply(entry.origin(), entry.event(), entry.position());
      foldedMillis = entry.timestamp().toEpochMilli();
      changedHeads.addAll(ContextState.artifactsIn(entry.event()));
    }
    return folded;
  }

  /// Artifact heads that differ from the stored ones. The caller holds the lock.
  ArtifactHeadTable.Changes unsavedHeads() {
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
    return new ArtifactHeadTable.Changes(allHeadsUnsaved, heads);
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
    var _ = durable();
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
    updateWindow(window -> Window.empty(window.head()));
  }

  /// Clears everything except the fact that the context existed.
  void erased(long mark) {
    status = Status.DELETED;
    generation++;
    state = new ContextState();
    folded = new ContextState();
    keys.clear();
    changedHeads.clear();
    shares = List.of();
    updateWindow(_ -> Window.empty(Position.START));
    lastBlock = mark;
  }

  /// True if all entries are in segments and no append is pending.
  boolean idle() {
    lock.lock();
    try {
      return (lastTicket == null || lastTicket.settled())
          && state.head().equals(sealedTo)
          && window.head().equals(sealedTo);
    } finally {
      lock.unlock();
    }
  }

  private static Position next(Position head, Draft draft) {
    if (!draft.event().internal()) {
      return head.nextPublic();
    }
    if (head.k() >= Positions.K_MAX) {
      throw new Rejection.Conflict(
          "too-many-internal-events", "a public event must follow before further internal ones");
    }
    return head.nextInternal();
  }

  private static long textFrom(ContextState state, Draft draft) {
    return draft.event() instanceof ContentComplete end
        ? state.wholeBlock(draft.origin(), end).map(OpenBlock::firstSeq).orElse(0L)
        : 0;
  }

  private static boolean uniform(List<Draft> drafts) {
    var first = drafts.getFirst().origin();
    for (var draft : drafts) {
      if (!(draft.event() instanceof ContentDelta) || !Objects.equals(draft.origin(), first)) {
        return false;
      }
    }
    return true;
  }
}
