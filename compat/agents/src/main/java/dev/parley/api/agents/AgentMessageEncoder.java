package dev.parley.api.agents;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.AgentMessage.ArtifactMetadata;
import dev.parley.api.agents.AgentMessage.BlockMetadata;
import dev.parley.api.agents.AgentMessage.ErrorMetadata;
import dev.parley.api.agents.AgentMessage.EventMetadata;
import dev.parley.api.agents.AgentMessage.MessageMetadata;
import dev.parley.api.agents.AgentMessage.PromptMetadata;
import dev.parley.api.agents.AgentMessage.QuestionMetadata;
import dev.parley.api.agents.AgentMessage.ResultMetadata;
import dev.parley.api.agents.AgentMessage.SubtaskMetadata;
import dev.parley.api.agents.AgentMessage.TaskStatistics;
import dev.parley.api.agents.AgentMessage.ThoughtMetadata;
import dev.parley.api.agents.AgentMessage.TokenUsage;
import dev.parley.api.agents.AgentMessage.ToolProgressMetadata;
import dev.parley.api.agents.AgentMessage.ToolResultMetadata;
import dev.parley.api.agents.AgentMessage.ToolUse;
import dev.parley.api.agents.AgentMessage.ToolUseMetadata;
import dev.parley.api.agents.AgentMessage.ToolUseResult;
import dev.parley.api.agents.AgentMessage.UsageMetadata;
import dev.parley.projection.AnswerSource;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.AuthEvent;
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
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Encodes a numbered entry as a message of its agent; see `EntryNumbering`.
///
/// The result depends only on the log up to the entry. For many threads.
final class AgentMessageEncoder {

  /// Keys of lines that the message itself already has.
  private static final Set<String> SHOWN =
      Set.of("type", "message", "event", "content", "result", "text", "item");

  private final AnswerSource answers;

  AgentMessageEncoder(AnswerSource answers) {
    this.answers = answers;
  }

  /// The fields of a message that depend on its event.
  private record Body(String type, String role, JsonNode content, EventMetadata metadata) {

    static Body user(JsonNode content, EventMetadata metadata) {
      return new Body("user", "user", content, metadata);
    }

    static Body system(@Nullable String text, EventMetadata metadata) {
      return new Body("system", "system", string(text), metadata);
    }
  }

  /// The message of a numbered entry.
  AgentMessage message(TaskId agent, NumberedReader.NumberedEntry numbered) {
    var entry = numbered.entry();
    var body = body(entry);
    var metadata = metadata(entry, body.metadata());
    return new AgentMessage(
        entry.eventId(),
        agent,
        numbered.number(),
        body.type(),
        body.role(),
        body.content(),
        numbered.raw(),
        numbered.raw() == null ? metadata : withKeys(entry, numbered.raw(), metadata),
        entry.timestamp(),
        null,
        null);
  }

  /// Adds the task of the entry, and whether it is a sub-agent's.
  private MessageMetadata metadata(Entry entry, EventMetadata event) {
    var origin = entry.origin();
    if (origin == null || answers.isAnswer(entry)) {
      return new MessageMetadata(event, entry.taskId(), null, null, null);
    }
    return new MessageMetadata(
        event, origin.taskId(), true, origin.agentId(), origin.spawnedByCallId());
  }

  /// Adds the further keys of a program's line. Deltas have only the common fields.
  private static Object withKeys(Entry entry, String raw, MessageMetadata metadata) {
    if (entry.event() instanceof ContentDelta || entry.event() instanceof ThoughtStream) {
      return metadata;
    }
    JsonNode line;
    try {
      line = Json.mapper().readTree(raw);
    } catch (JacksonException noJson) {
      return metadata;
    }
    ObjectNode all = Json.mapper().valueToTree(metadata);
    if (entry.event() instanceof Usage && line.path("event").path("delta").isObject()) {
      all.set("delta", line.path("event").path("delta"));
    }
    for (var key : line.properties()) {
      if (!SHOWN.contains(key.getKey()) && !all.has(key.getKey())) {
        all.set(key.getKey(), key.getValue());
      }
    }
    return all;
  }

  private static Body body(Entry entry) {
    return switch (entry.event()) {
      case TaskCreated created -> Body.user(string(created.prompt()), new PromptMetadata("prompt"));
      case Message message -> Body.user(string(message.content()), new PromptMetadata("prompt"));
      case ContentDelta(var text, var index, var block) ->
          new Body(
              "assistant",
              "assistant",
              string(text),
              new BlockMetadata("content_delta", block, index, null, null));
      case ContentComplete end ->
          Body.system(
              "", new BlockMetadata("content_stop", end.blockId(), null, true, end.finishReason()));
      case ToolStart start ->
          new Body(
              "tool",
              "assistant",
              string(start.toolName()),
              new ToolUseMetadata(
                  "tool_use",
                  new ToolUse(
                      start.toolCallId(),
                      start.toolName(),
                      start.arguments(),
                      start.facts().externalId().orElse(null))));
      case ToolProgress progress ->
          Body.system(
              progress.message(),
              new ToolProgressMetadata(
                  "tool_progress", progress.toolCallId(), progress.progress()));
      case ToolComplete end ->
          Body.user(
              toolContent(end),
              new ToolResultMetadata(
                  "tool_result",
                  new ToolUseResult(
                      end.toolCallId(),
                      end.toolName(),
                      !end.success(),
                      end.facts().externalId().orElse(null),
                      end.outcome())));
      case ThoughtStream thought ->
          Body.system(
              thought.content(),
              new ThoughtMetadata("thinking_delta", thought.thoughtId(), thought.thoughtType()));
      case Usage usage ->
          Body.system(
              "",
              new UsageMetadata(
                  "message_delta",
                  usage.model(),
                  Json.object(),
                  TokenUsage.of(usage),
                  usage.costUsd()));
      case ErrorReported(var code, var message, var retryable, var scope, var call) ->
          new Body(
              "error",
              "system",
              string(message),
              new ErrorMetadata("error", code, scope, retryable, call));
      case TaskComplete end ->
          new Body(
              "response",
              "assistant",
              string(end.content()),
              new ResultMetadata(
                  "result",
                  AgentStatus.COMPLETED,
                  null,
                  TaskStatistics.of(end.facts()),
                  end.artifacts()));
      case TaskStatus end ->
          new Body(
              "response",
              "assistant",
              string(end.message()),
              new ResultMetadata(
                  "result",
                  AgentStatus.of(end.status()),
                  end.facts().reason().orElse(null),
                  TaskStatistics.of(TaskEndFacts.of(end.metadata())),
                  null));
      case InputEvent _, AuthEvent _ -> question(entry);
      case FileWrite write -> artifact(write, "file", write.name(), write.complete());
      case DatasetWrite write -> artifact(write, "dataset", write.name(), write.complete());
      case DataWrite write -> artifact(write, "data", write.name(), true);
      case SubtaskCreated(var subtask, var agent, var prompt) ->
          Body.system(prompt, new SubtaskMetadata("subtask_created", subtask, agent, null, null));
      case SubtaskComplete(var subtask, var state, var result, var error) ->
          Body.system(
              result,
              new SubtaskMetadata("subtask_complete", subtask, null, AgentStatus.of(state), error));
      // The tests fail for an event that is numbered but not encoded.
      default -> throw new IllegalStateException("no message: " + entry.kind());
    };
  }

  /// The result of a tool: text unchanged, numbers and booleans as text.
  static JsonNode toolContent(ToolComplete end) {
    var result = end.result();
    if (result == null) {
      return string(end.error());
    }
    return result.isContainer() || result.isString() ? result : string(result.asString());
  }

  private static Body question(Entry entry) {
    var kind = entry.kind().wire().replace('-', '_');
    var event = (ObjectNode) Json.mapper().readTree(EventJson.bytes(entry));
    event.remove(
        List.of("kind", "seq", "eventId", "contextId", "rootTaskId", "agentLevel", "timestamp"));
    event.remove(List.of("taskId", "parentTaskId", "agentId", "invocationId", "traceId"));
    return Body.system(
        event.path("prompt").asString(""),
        entry.event() instanceof InputEvent
            ? new QuestionMetadata(kind, event, null)
            : new QuestionMetadata(kind, null, event));
  }

  private static Body artifact(
      ArtifactEvent event, String type, @Nullable String name, boolean complete) {
    return Body.system(
        "", new ArtifactMetadata("artifact", event.artifactId(), type, complete, name));
  }

  private static JsonNode string(@Nullable String text) {
    return StringNode.valueOf(text == null ? "" : text);
  }
}
