package dev.parley.api.chat;

import dev.parley.http.AnswerSource;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.Timestamps;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps log entries to chat events: none, one, or two where the end of a task is also the end of
/// its message.
///
/// The result depends only on the log before the entry, and on the names of agents.
final class ChatEventMapper {

  static final String SUBAGENT_OUTPUT = "subagent_output";

  private final AgentEventMapper agents;
  private final PrecedingEvents past;
  private final AnswerSource answers;

  ChatEventMapper(AgentEventMapper agents, PrecedingEvents past, AnswerSource answerSource) {
    this.agents = agents;
    this.past = past;
    this.answers = answerSource;
  }

  /// The chat events of an entry, in order.
  List<ObjectNode> of(Entry entry) {
    if (entry.event().internal()) {
      return List.of();
    }
    if (entry.event() instanceof MessageEvent event) {
      return message(entry, event).stream().toList();
    }
    if (entry.event() instanceof ContextEvent event) {
      return conversation(entry, event).stream().toList();
    }
    return agents.of(entry).map(this::of).orElse(List.of());
  }

  private static Optional<ObjectNode> message(Entry entry, MessageEvent event) {
    return switch (event) {
      case Message message when message.role() != Role.USER -> Optional.empty();
      case Message message -> Optional.of(userMessage(entry, message));
      case MessageUpdated updated ->
          Optional.of(
              json("message_updated", entry)
                  .put("messageId", updated.messageId().value())
                  .put("content", updated.content()));
      case MessageDeleted deleted ->
          Optional.of(json("message_deleted", entry).put("messageId", deleted.messageId().value()));
    };
  }

  /// A message that starts a task, or one that is sent to a running task.
  private static ObjectNode userMessage(Entry entry, Message message) {
    var steers = message.facts().steers();
    var json = json(steers ? "task_progress" : "started", entry);
    json.put("messageId", message.messageId().value());
    message.facts().taskId().ifPresent(task -> json.put("taskId", task.value()));
    return steers ? json.put("content", "Sent to the running task").put("stage", "steer") : json;
  }

  private static Optional<ObjectNode> conversation(Entry entry, ContextEvent event) {
    return switch (event) {
      case ContextUpdated updated -> {
        var json = json("conversation_updated", entry);
        if (updated.title() != null) {
          json.put("title", updated.title());
        }
        yield Optional.of(json);
      }
      case ContextRewound rewound -> {
        var json = json("conversation_rewound", entry);
        if (rewound.beforeMessageId() != null) {
          json.put("messageId", rewound.beforeMessageId().value());
        }
        json.putObject("data").put("toSeq", rewound.toSeq());
        yield Optional.of(json);
      }
      case ContextCreated _, ContextForked _, StateUpdated _ -> Optional.empty();
    };
  }

  private List<ObjectNode> of(AgentEvent event) {
    var root = event.entry().origin() == null || event.entry().origin().parentTaskId() == null;
    var payload = event.payload();
    return switch (event.type()) {
      case STARTED -> {
        var json = json(event);
        copy(payload, "agentName", json);
        json.set("content", payload.get("prompt"));
        yield List.of(data(json, payload));
      }
      case PROGRESS -> {
        var json = json(event);
        json.set("content", payload.get("message"));
        copy(payload, "percentage", json);
        copy(payload, "stage", json);
        copy(payload, "metadata", json);
        yield List.of(json);
      }
      case OUTPUT -> {
        var json = json(event);
        if (!answers.isAnswer(event.entry())) {
          json.put("type", SUBAGENT_OUTPUT);
        }
        json.setAll(payload);
        yield List.of(json);
      }
      case TOOL_CALL, TOOL_RESULT -> {
        var json = json(event);
        copy(payload, "tool", json);
        yield List.of(data(json, payload));
      }
      case SUBAGENT_START, SUBAGENT_STOP -> List.of(subagent(event));
      case COMPLETED -> {
        var json = json(event);
        json.set("content", payload.get("result"));
        data(json, payload);
        yield root ? List.of(json, completed(event)) : List.of(json);
      }
      case FAILED -> failed(event, root);
      case CANCELLED -> {
        var json = data(json(event), payload);
        yield List.of(root ? partial(event, json) : json);
      }
    };
  }

  /// The ids are those of the sub-agent, and the parent is the task of the event.
  private static ObjectNode subagent(AgentEvent event) {
    var json = json(event);
    json.set("parentTaskId", json.get("taskId"));
    for (var name : List.of("taskId", "agentId", "agentName")) {
      copy(event.payload(), name, json);
    }
    return data(json, event.payload());
  }

  /// The answer precedes the end of its task in the log, so it is in every history.
  private ObjectNode completed(AgentEvent event) {
    var json = json(event).put("type", "completed");
    if (event.entry().event() instanceof TaskComplete complete) {
      AnswerAuthor.of(complete.facts()).ifPresent(agent -> json.put("agentId", agent));
    }
    past.answer(event.entry())
        .ifPresent(
            answer -> {
              json.put("messageId", answer.messageId().value());
              var metadata =
                  answer.metadata() == null ? Json.object() : answer.metadata().deepCopy();
              copy(event.payload(), "usage", metadata);
              json.set("metadata", metadata);
            });
    json.set("content", event.payload().get("result"));
    return json;
  }

  /// `task_failed` is an alias of `error`, because `EventSource` has its own event named `error`.
  private List<ObjectNode> failed(AgentEvent event, boolean root) {
    var json = json(event);
    for (var name : List.of("error", "code", "recoverable")) {
      copy(event.payload(), name, json);
    }
    data(json, event.payload());
    if (!root) {
      return List.of(json);
    }
    partial(event, json);
    return List.of(json, json.deepCopy().put("type", "error"));
  }

  /// The text that was written until then stays in the history, as a partial answer.
  private ObjectNode partial(AgentEvent event, ObjectNode json) {
    past.answer(event.entry())
        .ifPresent(
            answer ->
                json.put("messageId", answer.messageId().value())
                    .put("content", answer.content())
                    .put("partial", true));
    return json;
  }

  private static ObjectNode json(AgentEvent event) {
    return json(event.type().ofChat(), event.entry()).put("agentId", event.agentId());
  }

  static ObjectNode json(String type, Entry entry) {
    var json = Json.object().put("type", type);
    json.put("conversationId", entry.contextId().value());
    var origin = entry.origin();
    if (origin != null) {
      json.put("taskId", origin.taskId().value());
      if (origin.parentTaskId() != null) {
        json.put("parentTaskId", origin.parentTaskId().value());
      }
    }
    json.put("eventId", entry.eventId().toString());
    return json.put("timestamp", Timestamps.format(entry.timestamp()));
  }

  private static ObjectNode data(ObjectNode json, ObjectNode payload) {
    json.set("data", payload);
    return json;
  }

  private static void copy(JsonNode from, String name, ObjectNode to) {
    if (from.has(name)) {
      to.set(name, from.get(name));
    }
  }
}
