package dev.parley.log;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/// The contexts in memory: at most one object for each, loaded on demand.
///
/// Each user of a context pins it, which is one atomic operation, because thousands of readers do
/// it for each event. A context may be dropped if it is not pinned, has no unsealed entries and no
/// pending append. It is closed to new pins first, so that it cannot change any more. Striped
/// locks, selected by id, guard loading and dropping. The number of contexts in memory is limited.
final class LiveContexts implements AutoCloseable {

  private static final int STRIPES = 128;

  /// Maximum number of contexts that the end of one use drops: more than one commit seals for each
  /// append.
  private static final int SWEEP = 16;

  private final ConcurrentHashMap<ContextId, LiveContext> live = new ConcurrentHashMap<>();
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];
  private final ReentrantLock dropping = new ReentrantLock();
  private final Readers readers;
  private final ContextMemory memory;
  private final Queue<LiveContext> released;
  private final Tuning tuning;
  private final Semaphore places;

  /// The number of contexts that were found unsealed beyond the limit. This many permits are not
  /// released.
  private final AtomicInteger surplus;

  private volatile boolean closed;

  LiveContexts(Readers readers, Unsealed unsealed, ContextMemory memory, Tuning tuning) {
    this.readers = readers;
    this.memory = memory;
    this.released = unsealed.released();
    this.tuning = tuning;
    Arrays.setAll(stripes, _ -> new ReentrantLock());
    unsealed.contexts().forEach(context -> live.put(context.id, context));
    // An earlier version may have left more unsealed contexts than the limit allows. Commits seal
    // them, and the contexts of those commits need room.
    var places = Math.max(tuning.memory().contexts() - live.size(), tuning.usedContexts());
    this.places = new Semaphore(places);
    this.surplus = new AtomicInteger(places + live.size() - tuning.memory().contexts());
  }

  /// Returns the context, which stays in memory until the pin is closed.
  ///
  /// @throws Rejection.Unavailable if there is no room for it
  Pin pin(ContextId id) {
    var context = live.get(id);
    return new Pin(context != null && context.pin() ? context : load(id, this::loadStored));
  }

  /// Does the same, also for a context that cannot be read: deleting it does not require reading
  /// it.
  Pin pinToDelete(ContextId id) {
    try {
      return pin(id);
    } catch (Rejection.Damaged unreadable) {
      return new Pin(load(id, this::loadDamaged));
    }
  }

  private LiveContext loadStored(ContextId id) {
    return Damage.told(
        id, () -> readers.lookUp(connection -> StoredContexts.load(connection, id, memory)));
  }

  private LiveContext loadDamaged(ContextId id) {
    return readers.lookUp(connection -> StoredContexts.loadDamaged(connection, id, memory));
  }

  private LiveContext load(ContextId id, Function<ContextId, LiveContext> read) {
    takePlace();
    var placed = false;
    var stripe = stripe(id);
    stripe.lock();
    try {
      var context = live.get(id);
      if (context == null || !context.pin()) {
        context = read.apply(id);
        var _ = context.pin();
        live.put(id, context);
        placed = true;
      }
      return context;
    } finally {
      stripe.unlock();
      if (!placed) {
        places.release();
      }
    }
  }

  /// Waits for room for one more context, without holding a lock.
  private void takePlace() {
    if (!places.tryAcquire()) {
      dropUnused();
      try {
        if (!places.tryAcquire(tuning.memory().waitMillis(), TimeUnit.MILLISECONDS)) {
          throw new Rejection.Unavailable("too many contexts are in use; try again later");
        }
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        throw new Rejection.Unavailable("interrupted while waiting for memory for a context");
      }
    }
    if (closed) {
      places.release();
      throw new Rejection.Unavailable("the log is closed");
    }
  }

  /// Wakes all threads that wait for a context, and rejects new users.
  @Override
  public void close() {
    closed = true;
    places.release(Short.MAX_VALUE);
    live.values().forEach(context -> context.waiters.forEach(LockSupport::unpark));
  }

  int size() {
    return live.size();
  }

  final class Pin implements AutoCloseable {
    private final LiveContext context;

    private Pin(LiveContext context) {
      this.context = context;
    }

    LiveContext context() {
      return context;
    }

    @Override
    public void close() {
      if (context.unpin()) {
        context.releaseKeysIfScarce();
        if (droppable(context)) {
          drop(context, false);
        }
      }
      for (var i = 0; i < SWEEP && !released.isEmpty(); i++) {
        sweep();
      }
    }
  }

  /// Drops a context that was sealed after its last use.
  private void sweep() {
    var context = released.poll();
    if (context != null && droppable(context)) {
      drop(context, false);
    }
  }

  /// Drops all contexts that are not in use.
  private void dropUnused() {
    if (dropping.tryLock()) {
      try {
        for (var context : live.values()) {
          if (unused(context)) {
            drop(context, true);
          }
        }
      } finally {
        dropping.unlock();
      }
    }
  }

  private void drop(LiveContext context, boolean needed) {
    var stripe = stripe(context.id);
    stripe.lock();
    try {
      if (!context.closeToPins()) {
        return;
      }
      if (needed ? unused(context) : droppable(context)) {
        if (live.remove(context.id, context)) {
          givePlaceBack();
          context.dropped();
        }
      } else {
        context.openToPins();
      }
    } finally {
      stripe.unlock();
    }
  }

  private void givePlaceBack() {
    var enough = places.availablePermits() >= tuning.usedContexts();
    if (!enough || surplus.getAndUpdate(n -> Math.max(0, n - 1)) == 0) {
      places.release();
    }
  }

  private boolean droppable(LiveContext context) {
    return switch (context.status) {
      case ABSENT, DELETED -> true;
      case PRESENT -> live.size() > tuning.liveContexts() && context.idle();
      // If it were loaded again, it could seem intact, without its unsealed entries.
      case DAMAGED -> false;
    };
  }

  private static boolean unused(LiveContext context) {
    return switch (context.status) {
      case ABSENT, DELETED -> true;
      case PRESENT -> context.idle();
      case DAMAGED -> false;
    };
  }

  private ReentrantLock stripe(ContextId id) {
    return stripes[(id.hashCode() & 0x7fffffff) % STRIPES];
  }
}
