package dev.parley.stream;

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

/// A cache of pages of append-only data. Each page is created once for all readers, and found by
/// the position that it follows.
///
/// A page never becomes stale: the data after a position never changes, and is only appended to.
/// The oldest pages are evicted when the total weight exceeds the limit. The monitor guards `order`
/// and `weight`. For many threads.
public final class PageCache<K, P> {

  private record CachedPage<K>(K key, long weight) {}

  private final long weightMax;
  private final ToLongFunction<P> weigher;
  private final Map<K, FutureTask<P>> pages = new ConcurrentHashMap<>();
  private final Queue<CachedPage<K>> order = new ArrayDeque<>();
  private final AtomicLong generations = new AtomicLong();
  private long weight;

  /// @param weigher returns the weight of a page; a page of weight 0 is not cached
  public PageCache(long weightMax, ToLongFunction<P> weigher) {
    this.weightMax = weightMax;
    this.weigher = weigher;
  }

  /// The cached page, or the one that another thread is creating, or else the one that `make`
  /// creates.
  public P get(K key, Supplier<P> make) throws InterruptedException {
    var page = pages.get(key);
    if (page == null) {
      var era = generation();
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

  /// The current generation. Call this before you read the data of a page for [#put].
  public long generation() {
    return generations.get();
  }

  /// Caches a page that was read in this generation, unless the key is cached already.
  public void put(K key, P page, long era) {
    var done = new FutureTask<>(() -> page);
    done.run();
    if (pages.putIfAbsent(key, done) == null) {
      keep(key, done, era);
    }
  }

  /// Removes the pages of deleted data. Pages that are being created now are not cached.
  public void forget(Predicate<K> which) {
    generations.incrementAndGet();
    pages.keySet().removeIf(which);
    synchronized (this) {
      order.removeIf(
          cachedPage -> {
            var gone = which.test(cachedPage.key());
            weight -= gone ? cachedPage.weight() : 0;
            return gone;
          });
    }
  }

  /// The total weight of the cached pages.
  public synchronized long weight() {
    return weight;
  }

  private void keep(K key, FutureTask<P> page, long era) {
    var weighs =
        page.state() == FutureTask.State.SUCCESS ? weigher.applyAsLong(page.resultNow()) : 0;
    synchronized (this) {
      // Inside the lock, so that a concurrent `forget` finds the page in both collections, or in
      // neither.
      if (weighs == 0 || generation() != era) {
        pages.remove(key, page);
        return;
      }
      order.add(new CachedPage<>(key, weighs));
      weight += weighs;
      while (weight > weightMax) {
        var oldest = order.remove();
        weight -= oldest.weight();
        pages.remove(oldest.key());
      }
    }
  }
}
