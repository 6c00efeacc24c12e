package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// Pages of entries, by what they follow, so that many who follow one context read the store once.
///
/// A page never goes stale: what follows a position never changes, there is only more of it later. The
/// oldest pages go when there are too many entries. The monitor guards `order` and `size`.
final class EntryPages {

  private static final int ENTRIES_MAX = 16_384;

  private final EventLog log;
  private final Map<Key, FutureTask<List<Entry>>> pages = new ConcurrentHashMap<>();
  private final Queue<Kept> order = new ArrayDeque<>();
  private int size;

  private record Key(ContextId context, Position after) {}

  private record Kept(Key key, int entries) {}

  EntryPages(EventLog log) {
    this.log = log;
  }

  /// Some entries that follow `after`; if they must be read, then at most `limit`. Empty at the end.
  List<Entry> read(ContextId context, Position after, int limit) {
    var key = new Key(context, after);
    var page = pages.get(key);
    if (page == null) {
      var fresh = new FutureTask<>(() -> log.read(context, after, limit));
      page = pages.putIfAbsent(key, fresh);
      if (page == null) {
        page = fresh;
        fresh.run();
        keep(key, fresh);
      }
    }
    try {
      return page.get();
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("interrupted while reading");
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case Rejection rejection -> throw rejection;
        case RuntimeException wrong -> throw wrong;
        case null, default -> throw new IllegalStateException(failed);
      }
    }
  }

  /// Drops what is kept of a context.
  void forget(ContextId context) {
    pages.keySet().removeIf(key -> key.context().equals(context));
  }

  private void keep(Key key, FutureTask<List<Entry>> page) {
    var entries = page.state() == FutureTask.State.SUCCESS ? page.resultNow().size() : 0;
    if (entries == 0) {
      pages.remove(key, page);
      return;
    }
    synchronized (this) {
      order.add(new Kept(key, entries));
      size += entries;
      while (size > ENTRIES_MAX && order.size() > 1) {
        var oldest = order.remove();
        size -= oldest.entries();
        pages.remove(oldest.key());
      }
    }
  }
}
