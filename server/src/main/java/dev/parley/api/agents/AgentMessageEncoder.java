package dev.parley.api.agents;

import dev.parley.http.AnswerSource;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.Timestamps;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes a numbered entry as a message of its agent; see [Numbering].
///
/// The result depends only on the log up to the entry. For many threads.
final class AgentMessageEncoder {

  /// In a message's metadata: the type of its event.
  static final String EVENT_TYPE = "eventType";

  /// A delta of a block of text.
  static final String CONTENT_DELTA = "content_delta";

  /// The end of an interrupted block of text.
  static final String CONTENT_STOP = "content_stop";

  /// The program's line that a message comes from.
  static final String RAW = "raw";

  /// Keys of lines that the message itself already has.
  private static final Set<String> SHOWN =
      Set.of("type", "message", "event", "content", "result", "text", "item");

  private final AnswerSource answers;

  AgentMessageEncoder(AnswerSource answerSource) {
    this.answers = answerSource;
  }

  /// The fields of a message; `content` is a string or a JSON object or array.
  private record Body(String type, String role, JsonNode content, ObjectNode metadata) {

    static Body assistant(String text, ObjectNode metadata) {
      return new Body("assistant", "assistant", string(text), metadata);
    }

    static Body user(JsonNode content, ObjectNode metadata) {
      return new Body("user", "user", content, metadata);
    }

    static Body system(String text, ObjectNode metadata) {
      return new Body("system", "system", string(text), metadata);
    }
  }

  /// The message of a numbered entry.
  ObjectNode json(TaskId agent, NumberedReader.NumberedEntry numberedEntry) {
    var entry = numberedEntry.entry();
    var body = body(entry);
    var json =
        Json.object()
            .put("id", entry.eventId().toString())
            .put("agentId", agent.value())
            .put("sequenceNumber", numberedEntry.number())
            .put("type", body.type())
            .put("role", body.role());
    json.set("content", body.content());
    var metadata = origin(entry, body.metadata());
    if (numberedEntry.raw() != null) {
      json.put(RAW, numberedEntry.raw());
      addKeys(entry, numberedEntry.raw(), metadata);
    }
    json.set("metadata", metadata);
    return json.put("createdAt", Timestamps.format(entry.timestamp()));
  }

  /// Adds the further keys of a program's line. Deltas have only the common fields.
  private static void addKeys(Entry entry, String raw, ObjectNode metadata) {
    if (entry.event() instanceof ContentDelta || entry.event() instanceof ThoughtStream) {
      return;
    }
    JsonNode line;
    try {
      line = Json.mapper().readTree(raw);
    } catch (JacksonException noJson) {
      return;
    }
    if (entry.event() instanceof Usage && line.path("event").path("delta").isObject()) {
      metadata.set("delta", line.path("event").path("delta"));
    }
    for (var key : line.properties()) {
      if (!SHOWN.contains(key.getKey()) && !metadata.has(key.getKey())) {
        metadata.set(key.getKey(), key.getValue());
      }
    }
  }

  private Body body(Entry entry) {
    return switch (entry.event()) {
      case TaskCreated created -> Body.user(string(created.prompt()), type("prompt"));
      case Message message -> Body.user(string(message.content()), type("prompt"));
      case ContentDelta delta ->
          Body.assistant(
              delta.delta(), block(CONTENT_DELTA, delta.blockId()).put("index", delta.index()));
      case ContentComplete end -> interrupted(end);
      case ToolStart start -> tool(start);
      case ToolProgress progress -> progress(progress);
      case ToolComplete end -> toolResult(end);
      case ThoughtStream thought ->
          Body.system(
              thought.content(),
              type("thinking_delta")
                  .put("thoughtId", thought.thoughtId().value())
                  .put("thoughtType", thought.thoughtType().wire()));
      case Usage usage -> usage(usage);
      case ErrorReported error -> error(error);
      case TaskComplete end -> response(end);
      case TaskStatus end -> response(end);
      case InputEvent _, AuthEvent _ -> question(entry);
      case FileWrite write ->
          artifact("file", write.artifactId().value(), write.name(), write.complete());
      case DatasetWrite write ->
          artifact("dataset", write.artifactId().value(), write.name(), write.complete());
      case DataWrite write -> artifact("data", write.artifactId().value(), write.name(), true);
      case SubtaskCreated created -> subtask(created);
      case SubtaskComplete end -> subtask(end);
      // The tests fail for an event that is numbered but not encoded.
      default -> throw new IllegalStateException("no message: " + entry.event().kind());
    };
  }

  private static Body interrupted(ContentComplete end) {
    var metadata = block(CONTENT_STOP, end.blockId()).put("partial", true);
    if (end.finishReason() != null) {
      metadata.put("finishReason", end.finishReason().wire());
    }
    return Body.system("", metadata);
  }

  private static Body tool(ToolStart start) {
    var metadata = type("tool_use");
    var use = metadata.putObject("tool_use");
    use.put("id", start.toolCallId().value()).put("name", start.toolName());
    use.set("input", start.arguments());
    start.facts().externalId().ifPresent(id -> use.put("callId", id));
    return new Body("tool", "assistant", string(start.toolName()), metadata);
  }

  private static Body progress(ToolProgress progress) {
    var metadata =
        type("tool_progress")
            .put("tool_use_id", progress.toolCallId().value())
            .put("progress", progress.progress());
    return Body.system(progress.message() == null ? "" : progress.message(), metadata);
  }

  private static Body toolResult(ToolComplete end) {
    var metadata = type("tool_result");
    var result = metadata.putObject("tool_result");
    result.put("tool_use_id", end.toolCallId().value()).put("name", end.toolName());
    result.put("is_error", !end.success());
    end.facts().externalId().ifPresent(id -> result.put("callId", id));
    if (end.outcome() != null) {
      result.put("outcome", end.outcome().wire());
    }
    return Body.user(toolContent(end), metadata);
  }

  /// The result of a tool: text unchanged, numbers and booleans as text.
  static JsonNode toolContent(ToolComplete end) {
    var result = end.result();
    if (result == null) {
      return string(end.error());
    }
    return result.isContainer() || result.isString() ? result : string(result.asString());
  }

  private static Body usage(Usage usage) {
    var metadata = type("message_delta").put("model", usage.model());
    metadata.putObject("delta");
    metadata.set("usage", tokens(usage));
    if (usage.costUsd() != null) {
      metadata.put("costUsd", usage.costUsd());
    }
    return Body.system("", metadata);
  }

  static ObjectNode tokens(Usage usage) {
    var tokens =
        Json.object()
            .put("input_tokens", usage.inputTokens())
            .put("output_tokens", usage.outputTokens());
    if (usage.cacheCreationInputTokens() != null) {
      tokens.put("cache_creation_input_tokens", usage.cacheCreationInputTokens());
    }
    if (usage.cacheReadInputTokens() != null) {
      tokens.put("cache_read_input_tokens", usage.cacheReadInputTokens());
    }
    return tokens;
  }

  private static Body error(ErrorReported error) {
    var metadata =
        type("error")
            .put("code", error.code().wire())
            .put("scope", error.scope().wire())
            .put("retryable", error.retryable());
    if (error.toolCallId() != null) {
      metadata.put("tool_use_id", error.toolCallId().value());
    }
    return new Body("error", "system", string(error.message()), metadata);
  }

  private static Body response(TaskComplete end) {
    var metadata = type("result").put("status", AgentStatus.COMPLETED.wire());
    metadata.setAll(TaskStatistics.of(end.facts()));
    if (end.artifacts() != null) {
      end.artifacts().forEach(id -> metadata.withArray("/artifacts").add(id.value()));
    }
    return new Body("response", "assistant", string(end.content()), metadata);
  }

  private static Body response(TaskStatus end) {
    var metadata = type("result").put("status", AgentStatus.of(end.status()).wire());
    end.facts().reason().ifPresent(reason -> metadata.put("reason", reason));
    metadata.setAll(TaskStatistics.of(TaskEndFacts.of(end.metadata())));
    return new Body("response", "assistant", string(end.message()), metadata);
  }

  /// A question or its answer, with all fields of the event.
  private static Body question(Entry entry) {
    var kind = entry.event().kind().wire();
    var event = (ObjectNode) Json.mapper().readTree(EventJson.bytes(entry));
    event.remove(
        List.of("kind", "seq", "eventId", "contextId", "rootTaskId", "agentLevel", "timestamp"));
    event.remove(List.of("taskId", "parentTaskId", "agentId", "invocationId", "traceId"));
    var metadata = type(kind.replace('-', '_'));
    var prompt = event.path("prompt").asString("");
    metadata.set(entry.event() instanceof InputEvent ? "input" : "auth", event);
    return Body.system(prompt, metadata);
  }

  private static Body artifact(String what, String id, @Nullable String name, boolean complete) {
    var metadata = type("artifact").put("artifactId", id).put("artifactType", what);
    metadata.put("complete", complete);
    if (name != null) {
      metadata.put("name", name);
    }
    return Body.system("", metadata);
  }

  private static Body subtask(SubtaskCreated created) {
    var metadata = type("subtask_created").put("subtaskId", created.subtaskId().value());
    if (created.agentId() != null) {
      metadata.put("subtaskAgent", created.agentId().value());
    }
    return Body.system(created.prompt(), metadata);
  }

  private static Body subtask(SubtaskComplete end) {
    var metadata =
        type("subtask_complete")
            .put("subtaskId", end.subtaskId().value())
            .put("status", AgentStatus.of(end.status()).wire());
    if (end.error() != null) {
      metadata.put("error", end.error());
    }
    return Body.system(end.result() == null ? "" : end.result(), metadata);
  }

  /// Adds the task of the entry, and whether it is a sub-agent's.
  private ObjectNode origin(Entry entry, ObjectNode metadata) {
    var origin = entry.origin();
    if (origin != null) {
      metadata.put("taskId", origin.taskId().value());
      if (!answers.isAnswer(entry)) {
        metadata.put("subagent", true).put("agentType", origin.agentId().value());
        if (origin.spawnedByCallId() != null) {
          metadata.put("parent_tool_use_id", origin.spawnedByCallId().value());
        }
      }
    }
    return metadata;
  }

  private static ObjectNode block(String eventType, @Nullable BlockId block) {
    var metadata = type(eventType);
    if (block != null) {
      metadata.put("blockId", block.value());
    }
    return metadata;
  }

  private static ObjectNode type(String eventType) {
    return Json.object().put(EVENT_TYPE, eventType);
  }

  private static JsonNode string(@Nullable String text) {
    return Json.mapper().getNodeFactory().stringNode(text == null ? "" : text);
  }
}
