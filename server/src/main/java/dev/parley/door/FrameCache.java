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

/// Pages of encoded frames, by what they follow and their format, so that many readers of one context encode once.
///
/// A page never goes stale: what follows a position never changes, there is only more of it later.
/// The oldest pages go when there are too many bytes. The monitor guards `order` and `size`.
public final class FrameCache {

  private static final int ENTRY_BYTES_MIN = 64;

  private final EventLog log;
  private final long bytesMax;
  private final Map<Key, FutureTask<FramePage>> pages = new ConcurrentHashMap<>();
  private final Queue<Kept> order = new ArrayDeque<>();
  private final EntryPages entries;
  private long size;

  public FrameCache(EventLog log, long bytesMax) {
    this.log = log;
    this.bytesMax = bytesMax;
    this.entries = new EntryPages(log);
  }

  /// Some entries that follow `after`, read once for all who ask; at most `limit` if they must be read.
  public List<Entry> entries(ContextId context, Position after, int limit) {
    return entries.read(context, after, limit);
  }

  private record Key(ContextId context, Position after, Format format) {}

  private record Kept(Key key, int bytes) {}

  /// Entries that follow `after`, of which there must be some. If they must be read, then at most
  /// `limit` of them; those that make no part of the page are kept for the next one.
  FramePage page(ContextId context, Position after, Format format, int limit)
      throws InterruptedException {
    var key = new Key(context, after, format);
    var page = pages.get(key);
    if (page == null) {
      var fresh = new FutureTask<>(() -> read(key, limit));
      page = pages.putIfAbsent(key, fresh);
      if (page == null) {
        page = fresh;
        fresh.run();
      }
    }
    try {
      return page.get();
    } catch (ExecutionException failed) {
      pages.remove(key, page);
      switch (failed.getCause()) {
        case Rejection rejection -> throw rejection;
        case RuntimeException wrong -> throw wrong;
        case null, default -> throw new IllegalStateException(failed);
      }
    }
  }

  /// Drops what is kept of a context.
  public void forget(ContextId context) {
    pages.keySet().removeIf(key -> key.context().equals(context));
    entries.forget(context);
  }

  /// The same, straight from the log.
  FramePage read(ContextId context, Position after, Format format, int limit) {
    return pages(new Key(context, after, format), limit).getFirst();
  }

  private FramePage read(Key key, int limit) {
    var found = pages(key, limit);
    for (var i = 1; i < found.size(); i++) {
      keep(new Key(key.context(), found.get(i - 1).last(), key.format()), found.get(i));
    }
    kept(key, found.getFirst());
    return found.getFirst();
  }

  private List<FramePage> pages(Key key, int limit) {
    var entries = log.read(key.context(), key.after(), limit);
    if (entries.isEmpty()) {
      throw new IllegalStateException("nothing follows " + key.after() + " in " + key.context());
    }
    return FramePage.of(entries, key.format());
  }

  private void keep(Key key, FramePage page) {
    var done = new FutureTask<>(() -> page);
    done.run();
    if (pages.putIfAbsent(key, done) == null) {
      kept(key, page);
    }
  }

  private synchronized void kept(Key key, FramePage page) {
    // The entries behind the frames take about as much again, or something where there is no frame.
    var bytes = 2 * page.bytes().length + ENTRY_BYTES_MIN * page.entries().size();
    order.add(new Kept(key, bytes));
    size += bytes;
    while (size > bytesMax) {
      var oldest = order.remove();
      size -= oldest.bytes();
      pages.remove(oldest.key());
    }
  }
}
