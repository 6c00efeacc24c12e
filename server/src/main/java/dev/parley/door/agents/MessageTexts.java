package dev.parley.door.agents;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.Timestamps;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;

/// What peers are told of an agent's messages, written once for all who listen.
///
/// A text never goes stale: it depends on nothing but the log up to its entry. The oldest go when there are
/// too many characters. The monitor guards `order` and `size`. For many threads.
final class MessageTexts {

  private static final long CHARACTERS_MAX = 8L << 20;

  private final MessageForm form;
  private final Map<Key, String> texts = new ConcurrentHashMap<>();
  private final Queue<Key> order = new ArrayDeque<>();
  private long size;

  private record Key(ContextId context, TaskId agent, Position position) {}

  MessageTexts(MessageForm form) {
    this.form = form;
  }

  /// The argument of `agent:message` as JSON.
  String of(TaskId agent, Entry entry, long number) {
    var key = new Key(entry.contextId(), agent, entry.position());
    var known = texts.get(key);
    if (known != null) {
      return known;
    }
    // Not within the map: what is written may push out others, whose bins somebody else may hold.
    var text = write(key, entry, number);
    if (texts.putIfAbsent(key, text) == null) {
      keep(key, text.length());
    }
    return text;
  }

  private String write(Key key, Entry entry, long number) {
    var argument =
        Json.object()
            .put("agentId", key.agent().value())
            .put("timestamp", Timestamps.format(entry.timestamp()));
    argument.set("message", form.json(key.agent(), entry, number));
    return Json.mapper().writeValueAsString(argument);
  }

  private synchronized void keep(Key key, int length) {
    order.add(key);
    size += length;
    while (size > CHARACTERS_MAX && order.size() > 1) {
      var oldest = texts.remove(order.remove());
      size -= oldest == null ? 0 : oldest.length();
    }
  }
}
