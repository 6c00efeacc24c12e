package dev.parley.api.agents;

import dev.parley.http.AnswerSource;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes events as the lines that Claude Code would print, for agents that print none.
///
/// A block of text becomes a message with the block's id.
final class ClaudeCodeFormat extends ProxyFormat {

  private final AnswerSource answers;
  private final PrecedingTaskEntries preceding;

  ClaudeCodeFormat(EventLog log, Views views) {
    super(log, views);
    this.answers = new AnswerSource(log, views);
    this.preceding = new PrecedingTaskEntries(log);
  }

  @Override
  List<String> lines(Entry entry) {
    if (entry.event().internal() || entry.origin() == null) {
      return List.of();
    }
    return jsons(entry).stream().map(json -> withIds(entry, json).toString()).toList();
  }

  private List<ObjectNode> jsons(Entry entry) {
    return switch (entry.event()) {
      case TaskCreated created when isRoot(entry) -> List.of(init(entry, created));
      case ContentDelta delta -> delta(delta);
      case ContentComplete end -> complete(end);
      case Usage usage -> usage(entry, usage);
      case ThoughtStream thought -> List.of(thought(thought));
      case ToolComplete end -> List.of(toolResult(end));
      case TaskComplete end when isRoot(entry) -> List.of(result(end));
      case TaskStatus end
          when isRoot(entry)
              && (end.status() == TaskState.FAILED || end.status() == TaskState.CANCELED) ->
          List.of(result(end));
      case ErrorReported error -> List.of(notice("error", error.message()));
      case InputRequired asked ->
          List.of(
              notice("input_required", asked.prompt()).put("input_id", asked.inputId().value()));
      case AuthRequired asked ->
          List.of(notice("auth_required", asked.prompt()).put("auth_id", asked.authId().value()));
      default -> List.of(); // Claude Code has no such line.
    };
  }

  /// Adds the fields that every line has.
  private ObjectNode withIds(Entry entry, ObjectNode line) {
    var origin = entry.origin();
    var spawned = origin == null || answers.isAnswer(entry) ? null : origin.spawnedByCallId();
    line.put("parent_tool_use_id", spawned == null ? null : spawned.value());
    line.put("session_id", entry.contextId().value());
    return line.put("uuid", entry.eventId().toString());
  }

  private static ObjectNode init(Entry entry, TaskCreated created) {
    var line = Json.object().put("type", "system").put("subtype", "init");
    line.put("cwd", created.workingDirectory() == null ? "" : created.workingDirectory());
    line.put("model", entry.origin() == null ? "" : entry.origin().agentId().value());
    line.putArray("tools");
    line.putArray("mcp_servers");
    return line.put("agent_id", entry.taskId() == null ? "" : entry.taskId().value());
  }

  private static List<ObjectNode> delta(ContentDelta delta) {
    var lines = new ArrayList<ObjectNode>();
    if (delta.index() == 0) {
      var start = Json.object().put("type", "message_start");
      start.set("message", message(delta.blockId()));
      lines.add(event(start));
      var block = Json.object().put("type", "content_block_start").put("index", 0);
      block.putObject("content_block").put("type", "text").put("text", "");
      lines.add(event(block));
    }
    var piece = Json.object().put("type", "content_block_delta").put("index", 0);
    piece.putObject("delta").put("type", "text_delta").put("text", delta.delta());
    lines.add(event(piece));
    return lines;
  }

  private static List<ObjectNode> complete(ContentComplete end) {
    var lines = new ArrayList<ObjectNode>();
    if (!end.content().isEmpty()) {
      var line = Json.object().put("type", "assistant");
      var message = message(end.blockId());
      message.withArray("/content").addObject().put("type", "text").put("text", end.content());
      line.set("message", message);
      lines.add(line);
      lines.add(event(Json.object().put("type", "content_block_stop").put("index", 0)));
    }
    if (end.toolCalls() != null) {
      for (var call : end.toolCalls()) {
        var line = Json.object().put("type", "assistant");
        var message = message(end.blockId());
        var use = message.withArray("/content").addObject().put("type", "tool_use");
        use.put("id", call.id().value()).put("name", call.name());
        use.set("input", call.arguments());
        line.set("message", message);
        lines.add(line);
      }
    }
    var stop = Json.object().put("type", "message_delta");
    stop.putObject("delta").put("stop_reason", reason(end.finishReason()));
    lines.add(event(stop));
    return lines;
  }

  /// Ends the message that has not ended yet. Usage without such a message, such as the sums at the
  /// end of a turn, has no line; the result contains it.
  private List<ObjectNode> usage(Entry entry, Usage usage) {
    var open =
        preceding.find(
            entry,
            earlier -> earlier.event() instanceof ContentComplete,
            earlier -> earlier.event() instanceof Usage || earlier.event() instanceof TaskCreated,
            1);
    if (open.isEmpty()) {
      return List.of();
    }
    var delta = Json.object().put("type", "message_delta");
    delta.putObject("delta");
    delta.set("usage", AgentMessageEncoder.tokens(usage));
    return List.of(event(delta), event(Json.object().put("type", "message_stop")));
  }

  private static ObjectNode thought(ThoughtStream thought) {
    var delta = Json.object().put("type", "content_block_delta").put("index", 0);
    delta.putObject("delta").put("type", "thinking_delta").put("thinking", thought.content());
    return event(delta);
  }

  private static ObjectNode toolResult(ToolComplete end) {
    var line = Json.object().put("type", "user");
    var message = line.putObject("message").put("role", "user");
    var result = message.putArray("content").addObject().put("type", "tool_result");
    result.put("tool_use_id", end.toolCallId().value());
    var content = AgentMessageEncoder.toolContent(end);
    result.put("content", content.isString() ? content.asString() : content.toString());
    result.put("is_error", !end.success());
    return line;
  }

  private static ObjectNode result(TaskComplete end) {
    var line = Json.object().put("type", "result").put("subtype", "success");
    line.put("is_error", false).put("result", end.content() == null ? "" : end.content());
    return withStatistics(line, end.facts());
  }

  private static ObjectNode result(TaskStatus end) {
    var reason = end.facts().reason().orElse("");
    var line = Json.object().put("type", "result").put("subtype", "error_during_execution");
    line.put("is_error", true).put("result", reason);
    line.put("terminal_reason", AgentStatus.of(end.status()).wire());
    return withStatistics(line, TaskEndFacts.of(end.metadata()));
  }

  private static ObjectNode withStatistics(ObjectNode line, TaskEndFacts end) {
    var statistics = TaskStatistics.of(end);
    line.put("duration_ms", statistics.path("duration").asLong(0));
    statistics.remove("duration");
    line.setAll(statistics);
    return line;
  }

  private static ObjectNode notice(String subtype, String text) {
    return Json.object().put("type", "system").put("subtype", subtype).put("message", text);
  }

  private static ObjectNode event(ObjectNode event) {
    var line = Json.object().put("type", "stream_event");
    line.set("event", event);
    return line;
  }

  private static ObjectNode message(@Nullable BlockId block) {
    var message = Json.object().put("id", "msg_" + (block == null ? "" : block.value()));
    message.put("type", "message").put("role", "assistant").putArray("content");
    return message;
  }

  private static String reason(@Nullable FinishReason reason) {
    return switch (reason) {
      case null -> "end_turn";
      case STOP -> "end_turn";
      case LENGTH -> "max_tokens";
      case TOOL_CALLS -> "tool_use";
      case CONTENT_FILTER, REFUSAL -> "refusal";
      case INTERRUPTED, CANCELED -> "pause_turn";
    };
  }
}
