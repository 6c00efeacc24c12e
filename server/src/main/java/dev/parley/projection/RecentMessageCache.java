package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Caches the latest messages of recently used contexts. Every new task reads them, and without the
/// cache all tasks would wait for the single thread of the views.
///
/// New messages are read from the log, and so are all messages of a short context. After any other
/// change of messages the caller must query the tables again. The lock guards the map.
final class RecentMessageCache {

  /// How many new log entries are searched for messages.
  static final int TAIL_MAX = 2_000;

  /// The messages of a context with at most this many events are read from the log, because its
  /// first tasks would otherwise wait until the views have folded it.
  private static final int SHORT_MAX = 256;

  /// The bounds of the size of the cache in bytes, and its part of the largest heap.
  private static final long BYTES_MIN = 8_000_000;

  private static final long BYTES_MAX = 64_000_000;
  private static final int PART_OF_HEAP = 64;

  /// The part of the cache that one context may use.
  private static final int PART_OF_ONE = 8;

  /// The approximate size of a message without its text, in bytes.
  private static final int OVERHEAD = 600;

  /// The latest `limit` messages up to a position.
  record CachedMessages(Position at, int limit, List<MessageView> messages, long bytes) {

    static CachedMessages of(Position at, int limit, List<MessageView> messages) {
      var bytes = 0L;
      for (var message : messages) {
        // Texts that are not Latin take twice as much; the bound need not be exact.
        bytes += message.content().length() + OVERHEAD;
      }
      return new CachedMessages(at, limit, messages, bytes);
    }
  }

  private final EventLog log;
  private final long bytesMax;
  private final Map<ContextId, CachedMessages> cached = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /// A cache whose size follows from the largest heap: with too little, every task of many active
  /// contexts reads its conversation from the log again.
  RecentMessageCache(EventLog log) {
    this(log, Math.clamp(Runtime.getRuntime().maxMemory() / PART_OF_HEAP, BYTES_MIN, BYTES_MAX));
  }

  RecentMessageCache(EventLog log, long bytesMax) {
    this.log = log;
    this.bytesMax = bytesMax;
  }

  /// Returns the latest messages, oldest first. Empty if the tables must be queried.
  Optional<List<MessageView>> latest(ContextId context, int limit) {
    var head = log.head(context);
    var known =
        find(context)
            .filter(found -> found.limit() == limit)
            .orElseGet(() -> CachedMessages.of(Position.START, limit, List.of()));
    var at = known.at();
    if (at.equals(Position.START) && head.seq() > SHORT_MAX) {
      return Optional.empty();
    }
    var entries = at.after(head) ? null : log.read(context, at, TAIL_MAX);
    if (entries == null
        || entries.size() == TAIL_MAX
        || entries.stream().anyMatch(RecentMessageCache::changesMore)) {
      forget(context);
      return Optional.empty();
    }
    var messages = new ArrayList<>(known.messages());
    for (var entry : entries) {
      if (entry.event() instanceof Message message) {
        messages.add(MessageTable.view(entry, message));
      }
    }
    var latest = messages.subList(Math.max(0, messages.size() - limit), messages.size());
    if (!entries.isEmpty()) {
      put(context, CachedMessages.of(entries.getLast().position(), limit, List.copyOf(latest)));
    }
    return Optional.of(List.copyOf(latest));
  }

  synchronized void put(ContextId context, CachedMessages cachedMessages) {
    forget(context);
    if (cachedMessages.bytes() <= bytesMax / PART_OF_ONE) {
      cached.put(context, cachedMessages);
      bytes += cachedMessages.bytes();
    }
    var oldest = cached.entrySet().iterator();
    while (bytes > bytesMax) {
      bytes -= oldest.next().getValue().bytes();
      oldest.remove();
    }
  }

  synchronized void forget(ContextId context) {
    var cachedMessages = cached.remove(context);
    bytes -= cachedMessages == null ? 0 : cachedMessages.bytes();
  }

  synchronized int contexts() {
    return cached.size();
  }

  private synchronized Optional<CachedMessages> find(ContextId context) {
    return Optional.ofNullable(cached.get(context));
  }

  private static boolean changesMore(Entry entry) {
    return entry.event() instanceof MessageUpdated
        || entry.event() instanceof MessageDeleted
        || entry.event() instanceof ContextRewound
        || entry.event() instanceof ContextForked
        // The summarized text may have been corrected meanwhile.
        || (entry.event() instanceof Message message && message.role() == Role.SYSTEM);
  }
}
