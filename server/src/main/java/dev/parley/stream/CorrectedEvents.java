package dev.parley.stream;

import dev.parley.projection.CorrectedMessage;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Removes text that people deleted or replaced from events: from the message itself, and from the
/// task that the message started or that wrote it.
///
/// Deltas of a corrected answer are omitted, because none of them has the whole text.
public final class CorrectedEvents {

  /// A shorter text is replaced only where it is a whole value: it may be part of any other word.
  private static final int PART_MIN = 8;

  private final Map<MessageId, List<CorrectedMessage>> byMessage = new HashMap<>();
  private final Map<TaskId, List<CorrectedMessage>> byRoot = new HashMap<>();

  public CorrectedEvents(List<CorrectedMessage> corrected) {
    for (var message : corrected) {
      byMessage.computeIfAbsent(message.messageId(), _ -> new ArrayList<>()).add(message);
      if (message.taskId() != null) {
        byRoot.computeIfAbsent(message.taskId(), _ -> new ArrayList<>()).add(message);
      }
    }
  }

  /// True if the entry must be omitted.
  public boolean omits(Entry entry) {
    return entry.event() instanceof ContentDelta
        && correctionsOf(entry).stream().anyMatch(message -> message.role() == Role.ASSISTANT);
  }

  /// True if people have changed or deleted text of this entry.
  public boolean affects(Entry entry) {
    return !correctionsOf(entry).isEmpty();
  }

  /// The corrected JSON of the entry, given its original `json`.
  public byte[] json(Entry entry, byte[] json) {
    var about = correctionsOf(entry);
    if (about.isEmpty()) {
      return json;
    }
    var node = (ObjectNode) Json.mapper().readTree(json);
    if (entry.event() instanceof MessageEvent
        && about.stream().anyMatch(CorrectedMessage::deleted)) {
      node.remove("parts");
    }
    correct(entry, node);
    return Json.bytes(node);
  }

  /// Corrects every text in an API's JSON for the entry.
  public void correct(Entry entry, ObjectNode told) {
    for (var message : correctionsOf(entry)) {
      change(told, text -> corrected(message, text));
    }
  }

  private List<CorrectedMessage> correctionsOf(Entry entry) {
    if (entry.event() instanceof MessageEvent event) {
      return byMessage.getOrDefault(event.messageId(), List.of()).stream()
          // A later message may have the same id.
          .filter(message -> entry.position().seq() >= message.seq())
          .toList();
    }
    var origin = entry.origin();
    return origin == null ? List.of() : byRoot.getOrDefault(origin.rootTaskId(), List.of());
  }

  private static String corrected(CorrectedMessage message, String text) {
    var now = message.now() == null ? "" : message.now();
    if (text.equals(now)) {
      return text;
    }
    if (message.before().contains(text)) {
      return now;
    }
    var changed = text;
    for (var before : message.before()) {
      if (before.length() >= PART_MIN && !now.contains(before)) {
        changed = changed.replace(before, now);
      }
    }
    return changed;
  }

  private static void change(JsonNode node, UnaryOperator<String> correct) {
    switch (node) {
      case ObjectNode object ->
          List.copyOf(object.properties())
              .forEach(
                  field -> {
                    if (field.getValue() instanceof StringNode text) {
                      object.put(field.getKey(), correct.apply(text.stringValue()));
                    } else {
                      change(field.getValue(), correct);
                    }
                  });
      case ArrayNode array -> {
        for (var i = 0; i < array.size(); i++) {
          if (array.get(i) instanceof StringNode text) {
            array.set(i, StringNode.valueOf(correct.apply(text.stringValue())));
          } else {
            change(array.get(i), correct);
          }
        }
      }
      default -> {} // No text.
    }
  }
}
