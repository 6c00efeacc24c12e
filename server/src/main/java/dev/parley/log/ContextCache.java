package dev.parley.log;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
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
final class ContextCache implements AutoCloseable {

  private static final Logger LOG = System.getLogger(ContextCache.class.getName());
  private static final int STRIPES = 128;

  /// Maximum number of contexts that the end of one use drops: more than one commit seals for each
  /// append.
  private static final int SWEEP = 16;

  private final ConcurrentHashMap<ContextId, CachedContext> cached = new ConcurrentHashMap<>();
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];
  private final ReentrantLock dropping = new ReentrantLock();
  private final ReaderThreads readerThreads;
  private final MemoryLimiters memory;
  private final Queue<CachedContext> released;
  private final LogTuning logTuning;
  private final Time time;
  private final Semaphore capacity;

  /// Threads that wait for capacity.
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();

  /// The number of contexts that were found unsealed beyond the limit. This many permits are not
  /// released.
  private final AtomicInteger surplus;

  private volatile boolean closed;

  ContextCache(
      ReaderThreads readerThreads,
      UnsealedBlocks unsealedBlocks,
      MemoryLimiters memory,
      LogTuning logTuning,
      Time time) {
    this.readerThreads = readerThreads;
    this.memory = memory;
    this.released = unsealedBlocks.released();
    this.logTuning = logTuning;
    this.time = time;
    Arrays.setAll(stripes, _ -> new ReentrantLock());
    unsealedBlocks.contexts().forEach(context -> cached.put(context.id, context));
    // An earlier version may have left more unsealed contexts than the limit allows. Commits seal
    // them, and the contexts of those commits need room.
    var places = Math.max(logTuning.memory().contexts() - cached.size(), logTuning.usedContexts());
    this.capacity = new Semaphore(places);
    this.surplus = new AtomicInteger(places + cached.size() - logTuning.memory().contexts());
  }

  /// Returns the context, which stays in memory until the pin is closed.
  ///
  /// @throws Rejection.Unavailable if there is no room for it
  Pin pin(ContextId id) {
    var context = cached.get(id);
    return new Pin(context != null && context.pin() ? context : load(id, this::loadStored));
  }

  /// Calls `listener` after each change of the context, which stays in memory until the result is
  /// closed.
  EventLog.ChangeRegistration listen(ContextId id, Runnable listener) {
    var pin = pin(id);
    var context = pin.context();
    var waiter = new ListenerWaiter(id, listener);
    context.waiters.add(waiter);
    return () -> {
      if (context.waiters.remove(waiter)) {
        if (context.waiters.isEmpty()) {
          WindowMemoryLimiter.trimToUnsealed(context);
        }
        pin.close();
      }
    };
  }

  /// Calls a listener on a thread of the log, which a failure of the listener must not end.
  private static final class ListenerWaiter implements Waiter {
    private final ContextId context;
    private final Runnable listener;
    private final AtomicBoolean failed = new AtomicBoolean();

    ListenerWaiter(ContextId context, Runnable listener) {
      this.context = context;
      this.listener = listener;
    }

    @Override
    public void wake() {
      try {
        listener.run();
      } catch (RuntimeException bug) {
        if (!failed.getAndSet(true)) {
          LOG.log(Level.ERROR, "a listener of context " + context + " failed", bug);
        }
      }
    }
  }

  /// Does the same as [#pin], also for a context that cannot be read: deleting it does not require reading
  /// it.
  Pin pinToDelete(ContextId id) {
    try {
      return pin(id);
    } catch (Rejection.Damaged unreadable) {
      return new Pin(load(id, this::loadDamaged));
    }
  }

  private CachedContext loadStored(ContextId id) {
    return ContextDamage.reportErrors(
        id, () -> readerThreads.lookUp(reader -> reader.load(id, memory)));
  }

  private CachedContext loadDamaged(ContextId id) {
    return readerThreads.lookUp(reader -> reader.loadDamaged(id, memory));
  }

  private CachedContext load(ContextId id, Function<ContextId, CachedContext> read) {
    acquireCapacity();
    var placed = false;
    var stripe = stripe(id);
    stripe.lock();
    try {
      var context = cached.get(id);
      if (context == null || !context.pin()) {
        context = read.apply(id);
        var _ = context.pin();
        cached.put(id, context);
        placed = true;
      }
      return context;
    } finally {
      stripe.unlock();
      if (!placed) {
        addCapacity(1);
      }
    }
  }

  /// Waits for room for one more context, without holding a lock.
  private void acquireCapacity() {
    if (!capacity.tryAcquire()) {
      dropUnused();
      awaitCapacity();
    }
    if (closed) {
      addCapacity(1);
      throw new Rejection.Unavailable("the log is closed");
    }
  }

  private void awaitCapacity() {
    var deadline = time.deadline(Duration.ofMillis(logTuning.memory().waitMillis()));
    var me = Thread.currentThread();
    waiting.add(me);
    try {
      while (!capacity.tryAcquire()) {
        if (time.remaining(deadline) <= 0) {
          throw new Rejection.Unavailable("too many contexts are in use; try again later");
        }
        time.parkUntil(this, deadline);
        if (me.isInterrupted()) {
          throw new Rejection.Unavailable("interrupted while waiting for memory for a context");
        }
      }
    } finally {
      waiting.remove(me);
      // This thread may have been woken for more than it has taken.
      wakeNext();
    }
  }

  private void addCapacity(int contexts) {
    capacity.release(contexts);
    wakeNext();
  }

  private void wakeNext() {
    if (!waiting.isEmpty() && capacity.availablePermits() > 0) {
      LockSupport.unpark(waiting.peek());
    }
  }

  /// Wakes all threads that wait for a context, and rejects new users.
  @Override
  public void close() {
    closed = true;
    addCapacity(Short.MAX_VALUE);
    cached.values().forEach(context -> context.waiters.forEach(Waiter::wake));
  }

  int size() {
    return cached.size();
  }

  final class Pin implements AutoCloseable {
    private final CachedContext context;

    private Pin(CachedContext context) {
      this.context = context;
    }

    CachedContext context() {
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
        for (var context : cached.values()) {
          if (unused(context)) {
            drop(context, true);
          }
        }
      } finally {
        dropping.unlock();
      }
    }
  }

  private void drop(CachedContext context, boolean needed) {
    var stripe = stripe(context.id);
    stripe.lock();
    try {
      if (!context.tryClose()) {
        return;
      }
      if (needed ? unused(context) : droppable(context)) {
        if (cached.remove(context.id, context)) {
          releaseCapacity();
          context.dropped();
        }
      } else {
        context.reopen();
      }
    } finally {
      stripe.unlock();
    }
  }

  private void releaseCapacity() {
    var enough = capacity.availablePermits() >= logTuning.usedContexts();
    if (!enough || surplus.getAndUpdate(n -> Math.max(0, n - 1)) == 0) {
      addCapacity(1);
    }
  }

  private boolean droppable(CachedContext context) {
    return switch (context.status) {
      case ABSENT, DELETED -> true;
      case PRESENT -> cached.size() > logTuning.liveContexts() && context.idle();
      // If it were loaded again, it could seem intact, without its unsealed entries.
      case DAMAGED -> false;
    };
  }

  private static boolean unused(CachedContext context) {
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
