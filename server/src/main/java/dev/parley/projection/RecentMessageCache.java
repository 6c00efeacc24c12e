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

  /// The size of the cache, and the most that one context may use, in characters.
  private static final long KEPT_MAX = 8_000_000;

  private static final long KEPT_OF_ONE_MAX = KEPT_MAX / 8;

  /// The approximate size of a message without its text.
  private static final int OVERHEAD = 1_000;

  /// The latest `limit` messages up to a position.
  record CachedMessages(Position at, int limit, List<MessageView> messages, long size) {

    static CachedMessages of(Position at, int limit, List<MessageView> messages) {
      var size = 0L;
      for (var message : messages) {
        size += message.content().length() + OVERHEAD;
      }
      return new CachedMessages(at, limit, messages, size);
    }
  }

  private final EventLog log;
  private final Map<ContextId, CachedMessages> cached = new LinkedHashMap<>(16, 0.75f, true);
  private long size;

  RecentMessageCache(EventLog log) {
    this.log = log;
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
    if (cachedMessages.size() <= KEPT_OF_ONE_MAX) {
      cached.put(context, cachedMessages);
      size += cachedMessages.size();
    }
    var oldest = cached.entrySet().iterator();
    while (size > KEPT_MAX) {
      size -= oldest.next().getValue().size();
      oldest.remove();
    }
  }

  synchronized void forget(ContextId context) {
    var cachedMessages = cached.remove(context);
    size -= cachedMessages == null ? 0 : cachedMessages.size();
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
