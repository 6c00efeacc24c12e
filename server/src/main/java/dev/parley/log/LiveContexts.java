package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/// The contexts that are in memory: at most one object for each, loaded when needed.
///
/// Whoever uses one pins it. One that is not pinned, has nothing unsealed and nothing on its way to
/// the disk may be dropped. Locks by stripe of id guard loading, pinning and dropping.
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
    var stripe = stripe(id);
    stripe.lock();
    try {
      var context = live.get(id);
      if (context == null) {
        context = readers.ask(connection -> StoredContexts.load(connection, id));
        live.put(id, context);
      }
      context.pins++;
      return new Pin(context);
    } finally {
      stripe.unlock();
    }
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
      var stripe = stripe(context.id);
      stripe.lock();
      try {
        context.pins--;
        dropIfUnused(context);
      } finally {
        stripe.unlock();
      }
      sweep();
    }
  }

  /// Drops contexts that were sealed after the last who used them had left.
  private void sweep() {
    for (var i = 0; i < SWEEP; i++) {
      var context = released.poll();
      if (context == null) {
        return;
      }
      var stripe = stripe(context.id);
      stripe.lock();
      try {
        dropIfUnused(context);
      } finally {
        stripe.unlock();
      }
    }
  }

  private void dropIfUnused(LiveContext context) {
    if (context.pins == 0 && droppable(context)) {
      live.remove(context.id, context);
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
