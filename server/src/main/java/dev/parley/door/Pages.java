package dev.parley.door;

import dev.parley.protocol.Rejection;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/// Pages of what can only grow, each made once for all who read it, and found by what it follows.
///
/// A page never goes stale: what follows a position never changes, there is only more of it later. The
/// oldest go when all together weigh too much. The monitor guards `order` and `weight`. For many threads.
public final class Pages<K, P> {

  private record Kept<K>(K key, long weight) {}

  private final long weightMax;
  private final ToLongFunction<P> scale;
  private final Map<K, FutureTask<P>> pages = new ConcurrentHashMap<>();
  private final Queue<Kept<K>> order = new ArrayDeque<>();
  private final AtomicLong forgotten = new AtomicLong();
  private long weight;

  /// @param scale says what a page weighs; one that weighs nothing is not kept
  public Pages(long weightMax, ToLongFunction<P> scale) {
    this.weightMax = weightMax;
    this.scale = scale;
  }

  /// The page that is kept, or that somebody is making, or else the one that `make` makes.
  public P get(K key, Supplier<P> make) throws InterruptedException {
    var page = pages.get(key);
    if (page == null) {
      var era = era();
      var fresh = new FutureTask<>(make::get);
      page = pages.putIfAbsent(key, fresh);
      if (page == null) {
        page = fresh;
        fresh.run();
        keep(key, fresh, era);
      }
    }
    try {
      return page.get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case Rejection rejection -> throw rejection;
        case RuntimeException wrong -> throw wrong;
        case null, default -> throw new IllegalStateException(failed);
      }
    }
  }

  /// To be asked before something is read that becomes a page for [#put].
  public long era() {
    return forgotten.get();
  }

  /// Keeps a page that was read in this era, unless there is one already.
  public void put(K key, P page, long era) {
    var done = new FutureTask<>(() -> page);
    done.run();
    if (pages.putIfAbsent(key, done) == null) {
      keep(key, done, era);
    }
  }

  /// Drops the pages of what was deleted; those that are just being made are not kept.
  public void forget(Predicate<K> which) {
    forgotten.incrementAndGet();
    pages.keySet().removeIf(which);
    synchronized (this) {
      order.removeIf(
          kept -> {
            var gone = which.test(kept.key());
            weight -= gone ? kept.weight() : 0;
            return gone;
          });
    }
  }

  /// What is kept weighs so much.
  public synchronized long weight() {
    return weight;
  }

  private void keep(K key, FutureTask<P> page, long era) {
    var weighs = page.state() == FutureTask.State.SUCCESS ? scale.applyAsLong(page.resultNow()) : 0;
    synchronized (this) {
      // In here, so that whoever forgets meanwhile finds it in both places, or in none.
      if (weighs == 0 || era() != era) {
        pages.remove(key, page);
        return;
      }
      order.add(new Kept<>(key, weighs));
      weight += weighs;
      while (weight > weightMax) {
        var oldest = order.remove();
        weight -= oldest.weight();
        pages.remove(oldest.key());
      }
    }
  }
}
