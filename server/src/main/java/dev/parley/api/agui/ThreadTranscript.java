package dev.parley.api.agui;

import dev.parley.projection.CorrectedMessage;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The messages and the state of a client that received all events. Snapshots are made from this.
/// For one thread.
final class ThreadTranscript {

  private static final class TranscriptMessage {
    final long seq;
    final ObjectNode message;
    final StringBuilder text = new StringBuilder();
    boolean deleted;

    TranscriptMessage(long seq, ObjectNode message) {
      this.seq = seq;
      this.message = message;
    }
  }

  /// A tool call; its arguments are written into the message that contains it.
  private record Call(TranscriptMessage holder, ObjectNode function, StringBuilder arguments) {}

  /// A key of the state was set, or removed if `value` is null.
  private record Change(long seq, String key, @Nullable JsonNode value) {}

  /// At `seq` the context was rewound to `to`, which may be before an earlier rewind.
  private record TranscriptRewind(long seq, long to) {}

  private final Map<String, TranscriptMessage> messagesById = new HashMap<>();
  private final List<TranscriptMessage> order = new ArrayList<>();
  private final Map<String, Call> calls = new LinkedHashMap<>();
  private final List<Change> changes = new ArrayList<>();
  private final List<TranscriptRewind> rewinds = new ArrayList<>();
  private @Nullable ObjectNode started;

  /// The start event of the last run, if any.
  @Nullable ObjectNode started() {
    return started;
  }

  /// Adds a whole message, unless it is known.
  void add(ObjectNode message, long seq) {
    var item = new TranscriptMessage(seq, message);
    if (messagesById.putIfAbsent(message.path("id").asString(), item) == null) {
      order.add(item);
    }
  }

  /// Rewinds the context at `seq` to its state at `to`. Later messages are hidden, and messages
  /// that were current at `to` are current again.
  void rewind(long seq, long to) {
    rewinds.add(new TranscriptRewind(seq, to));
    messagesById.clear();
    order.stream()
        .filter(item -> isCurrent(item.seq))
        .forEach(item -> messagesById.put(item.message.path("id").asString(), item));
  }

  /// True if the entry at `seq` was not rewound.
  private boolean isCurrent(long seq) {
    var end = Long.MAX_VALUE;
    for (var i = rewinds.size() - 1; i >= 0; i--) {
      var rewind = rewinds.get(i);
      if (rewind.seq() > end) {
        continue;
      }
      if (seq > rewind.seq()) {
        return seq <= end;
      }
      end = rewind.to();
    }
    return seq <= end;
  }

  void apply(ObjectNode event, long seq) {
    switch (AgUiEvent.valueOf(event.path("type").asString())) {
      case RUN_STARTED -> {
        started = event;
        for (var message : event.path("input").path("messages")) {
          add((ObjectNode) message, seq);
        }
      }
      case TEXT_MESSAGE_START -> messageFor(event, "messageId", "assistant", seq);
      case REASONING_MESSAGE_START -> messageFor(event, "messageId", "reasoning", seq);
      case TEXT_MESSAGE_CONTENT, REASONING_MESSAGE_CONTENT ->
          messageFor(event, "messageId", "assistant", seq)
              .text
              .append(event.path("delta").asString());
      case TOOL_CALL_START -> call(event, seq);
      case TOOL_CALL_ARGS -> {
        var call = calls.get(event.path("toolCallId").asString());
        if (call != null) {
          call.arguments().append(event.path("delta").asString());
        }
      }
      case TOOL_CALL_RESULT -> result(event, seq);
      case ACTIVITY_SNAPSHOT, ACTIVITY_DELTA -> activity(event, seq);
      case STATE_DELTA -> patch(event.path("delta"), seq);
      case RUN_FINISHED,
          RUN_ERROR,
          STEP_STARTED,
          STEP_FINISHED,
          TEXT_MESSAGE_END,
          TOOL_CALL_END,
          STATE_SNAPSHOT,
          MESSAGES_SNAPSHOT,
          REASONING_START,
          REASONING_MESSAGE_END,
          REASONING_END,
          SUBAGENT_STARTED,
          SUBAGENT_FINISHED,
          SUBAGENT_ERROR,
          CUSTOM -> {} // These create no message.
    }
  }

  private TranscriptMessage messageFor(ObjectNode event, String id, String role, long seq) {
    return messagesById.computeIfAbsent(
        event.path(id).asString(),
        key -> {
          var message = Json.object().put("id", key).put("role", role);
          if (event.has("subagentRunId")) {
            message.set("subagentRunId", event.get("subagentRunId"));
          }
          var item = new TranscriptMessage(seq, message);
          order.add(item);
          return item;
        });
  }

  /// Inserts a result after the message with its call and after earlier results.
  private void result(ObjectNode event, long seq) {
    var item = messageFor(event, "messageId", "tool", seq);
    item.message.set("toolCallId", event.get("toolCallId"));
    item.text.append(event.path("content").asString());
    var call = calls.get(event.path("toolCallId").asString());
    if (call != null && order.remove(item)) {
      var place = order.indexOf(call.holder()) + 1;
      while (place > 0 && place < order.size() && isResult(order.get(place))) {
        place++;
      }
      order.add(place == 0 ? order.size() : place, item);
    }
  }

  private static boolean isResult(TranscriptMessage item) {
    return item.message.path("role").asString().equals("tool");
  }

  private void call(ObjectNode event, long seq) {
    var id = event.path("toolCallId").asString();
    if (calls.containsKey(id)) {
      return;
    }
    var holder = event.has("parentMessageId") ? "parentMessageId" : "toolCallId";
    var item = messageFor(event, holder, "assistant", seq);
    var message = item.message;
    var all =
        message.get("toolCalls") instanceof ArrayNode known ? known : message.putArray("toolCalls");
    var function = Json.object().put("name", event.path("toolCallName").asString());
    all.addObject().put("id", id).put("type", "function").set("function", function);
    calls.put(id, new Call(item, function, new StringBuilder()));
  }

  private void activity(ObjectNode event, long seq) {
    var message = messageFor(event, "messageId", "activity", seq).message;
    message.set("activityType", event.get("activityType"));
    if (event.has("content")) {
      message.set("content", event.get("content").deepCopy());
    } else if (message.get("content") instanceof ObjectNode content) {
      for (var change : event.path("patch")) {
        content.set(key(change), change.get("value"));
      }
    }
  }

  private void patch(JsonNode delta, long seq) {
    for (var change : delta) {
      var removed = change.path("op").asString().equals("remove");
      changes.add(new Change(seq, key(change), removed ? null : change.path("value")));
    }
  }

  /// Applies a correction to the message with its id. A streamed text has another id: then the last
  /// message with the same text is corrected.
  private void correct(CorrectedMessage corrected) {
    var own =
        order.stream()
            .filter(
                item -> item.message.path("id").asString().equals(corrected.messageId().value()))
            .toList();
    var meant =
        !own.isEmpty()
            ? own
            : order.reversed().stream()
                .filter(item -> item.seq <= corrected.seq())
                .filter(item -> corrected.role() == Role.ASSISTANT && isText(item))
                .filter(item -> corrected.before().contains(item.text.toString()))
                .limit(1)
                .toList();
    for (var item : meant) {
      item.deleted = corrected.deleted();
      item.message.remove("content");
      item.text.setLength(0);
      item.text.append(corrected.deleted() ? "" : corrected.now());
    }
  }

  private static boolean isText(TranscriptMessage item) {
    return item.message.path("role").asString().equals("assistant")
        && !item.message.has("toolCalls");
  }

  private static String key(JsonNode change) {
    return change.path("path").asString().substring(1).replace("~1", "/").replace("~0", "~");
  }

  /// The state from the events, which is not stored in the context.
  ObjectNode state() {
    var all = Json.object();
    for (var change : changes) {
      if (isCurrent(change.seq())) {
        if (change.value() == null) {
          all.remove(change.key());
        } else {
          all.set(change.key(), change.value());
        }
      }
    }
    return all;
  }

  /// The messages in order, with corrections applied.
  ArrayNode json(List<CorrectedMessage> corrected) {
    corrected.forEach(this::correct);
    calls.values().forEach(call -> call.function().put("arguments", call.arguments().toString()));
    var all = Json.mapper().createArrayNode();
    for (var item : order) {
      if (!isCurrent(item.seq) || item.deleted) {
        continue;
      }
      var message = item.message.deepCopy();
      if (!message.has("content") && (!item.text.isEmpty() || !message.has("toolCalls"))) {
        message.put("content", item.text.toString());
      }
      all.add(message);
    }
    return all;
  }
}
