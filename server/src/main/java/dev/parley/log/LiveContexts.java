package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// The contexts that are in memory: at most one object for each, loaded when needed.
///
/// Whoever uses one pins it, which is one atomic step, as thousands of readers do it for every event.
/// One that is not pinned, has nothing unsealed and nothing on its way to the disk may be dropped:
/// it is closed to pins first, so that nothing can happen to it any more. Locks by stripe of id guard
/// loading and dropping.
final class LiveContexts {

  private static final int STRIPES = 128;
  private static final int SWEEP = 2;

  private final ConcurrentHashMap<ContextId, LiveContext> live = new ConcurrentHashMap<>();
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];
  private final Readers readers;
  private final Queue<LiveContext> released;
  private final int max;

  LiveContexts(Readers readers, Unsealed unsealed, int max) {
    this.readers = readers;
    this.released = unsealed.released();
    this.max = max;
    Arrays.setAll(stripes, _ -> new ReentrantLock());
    unsealed.contexts().forEach(context -> live.put(context.id, context));
  }

  /// The context, which stays in memory until the pin is closed.
  Pin pin(ContextId id) {
    var context = live.get(id);
    return new Pin(context != null && context.pin() ? context : load(id));
  }

  private LiveContext load(ContextId id) {
    var stripe = stripe(id);
    stripe.lock();
    try {
      var context = live.get(id);
      if (context == null || !context.pin()) {
        context = readers.lookUp(connection -> StoredContexts.load(connection, id));
        var _ = context.pin();
        live.put(id, context);
      }
      return context;
    } finally {
      stripe.unlock();
    }
  }

  /// Wakes all who wait for any context.
  void wakeAll() {
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
      if (context.unpin() && droppable(context)) {
        drop(context);
      }
      for (var i = 0; i < SWEEP && !released.isEmpty(); i++) {
        sweep();
      }
    }
  }

  /// Drops a context that was sealed after the last who used it had left.
  private void sweep() {
    var context = released.poll();
    if (context != null && droppable(context)) {
      drop(context);
    }
  }

  private void drop(LiveContext context) {
    var stripe = stripe(context.id);
    stripe.lock();
    try {
      if (!context.closeToPins()) {
        return;
      }
      if (droppable(context)) {
        live.remove(context.id, context);
      } else {
        context.openToPins();
      }
    } finally {
      stripe.unlock();
    }
  }

  private boolean droppable(LiveContext context) {
    if (context.status != LiveContext.Status.PRESENT) {
      return true;
    }
    return live.size() > max && context.idle();
  }

  private ReentrantLock stripe(ContextId id) {
    return stripes[(id.hashCode() & 0x7fffffff) % STRIPES];
  }
}
