package dev.parley.stream;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.util.List;

/// Caches pages of encoded frames, by the position before them and by format, so that frames are
/// encoded once for all readers of a context.
public final class FrameCache {

  private static final int ENTRY_BYTES_MIN = 64;

  private final EventLog log;
  private final PageCache<Key, FramePage> pageCache;

  public FrameCache(EventLog log, long bytesMax) {
    this.log = log;
    this.pageCache = new PageCache<>(bytesMax, FrameCache::bytes);
  }

  private record Key(ContextId context, Position after, EventFormat format) {}

  /// The entries take about as much memory as their frames, and some where there is no frame.
  private static long bytes(FramePage page) {
    return 2L * page.bytes().length + (long) ENTRY_BYTES_MIN * page.entries().size();
  }

  /// Entries that follow `after`; there must be at least one. On a cache miss, reads at most
  /// `limit` entries; those that do not fit into the page are cached for the next one.
  public FramePage page(ContextId context, Position after, EventFormat eventFormat, int limit)
      throws InterruptedException {
    var key = new Key(context, after, eventFormat);
    return pageCache.get(key, () -> read(key, limit));
  }

  /// Removes a context from the cache.
  public void forget(ContextId context) {
    pageCache.forget(key -> key.context().equals(context));
  }

  /// The same, straight from the log.
  public FramePage read(ContextId context, Position after, EventFormat eventFormat, int limit) {
    return pages(new Key(context, after, eventFormat), limit).getFirst();
  }

  private FramePage read(Key key, int limit) {
    var era = pageCache.generation();
    var found = pages(key, limit);
    for (var i = 1; i < found.size(); i++) {
      pageCache.put(
          new Key(key.context(), found.get(i - 1).last(), key.format()), found.get(i), era);
    }
    return found.getFirst();
  }

  private List<FramePage> pages(Key key, int limit) {
    var entries = log.read(key.context(), key.after(), limit);
    if (entries.isEmpty()) {
      throw new IllegalStateException("nothing follows " + key.after() + " in " + key.context());
    }
    return FramePage.of(entries, key.format());
  }
}
