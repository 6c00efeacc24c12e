package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.util.List;

/// Caches pages of encoded frames, by the position before them and by format, so that frames are
/// encoded once for all readers of a context.
public final class FrameCache {

  private static final int ENTRY_BYTES_MIN = 64;

  private final EventLog log;
  private final Pages<Key, FramePage> pages;

  public FrameCache(EventLog log, long bytesMax) {
    this.log = log;
    this.pages = new Pages<>(bytesMax, FrameCache::bytes);
  }

  private record Key(ContextId context, Position after, Format format) {}

  /// The entries take about as much memory as their frames, and some where there is no frame.
  private static long bytes(FramePage page) {
    return 2L * page.bytes().length + (long) ENTRY_BYTES_MIN * page.entries().size();
  }

  /// Entries that follow `after`; there must be at least one. On a cache miss, reads at most
  /// `limit` entries; those that do not fit into the page are cached for the next one.
  FramePage page(ContextId context, Position after, Format format, int limit)
      throws InterruptedException {
    var key = new Key(context, after, format);
    return pages.get(key, () -> read(key, limit));
  }

  /// Removes a context from the cache.
  public void forget(ContextId context) {
    pages.forget(key -> key.context().equals(context));
  }

  /// The same, straight from the log.
  FramePage read(ContextId context, Position after, Format format, int limit) {
    return pages(new Key(context, after, format), limit).getFirst();
  }

  private FramePage read(Key key, int limit) {
    var era = pages.era();
    var found = pages(key, limit);
    for (var i = 1; i < found.size(); i++) {
      pages.put(new Key(key.context(), found.get(i - 1).last(), key.format()), found.get(i), era);
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
