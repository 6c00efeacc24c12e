package dev.parley.api.agents;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.AgentMessage.TokenUsage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A line that Claude Code would print: the fields of its type, followed by those of every line.
/// Missing fields are not written, except the call that spawned a sub-agent.
record ClaudeLine(
    @JsonUnwrapped ClaudeLineBody body,
    @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable ToolCallId parent_tool_use_id,
    ContextId session_id,
    UUID uuid) {

  /// The fields of one type of line.
  sealed interface ClaudeLineBody {}

  record InitLine(
      String type,
      String subtype,
      String cwd,
      @Nullable AgentTypeId model,
      List<String> tools,
      List<String> mcp_servers,
      @Nullable TaskId agent_id)
      implements ClaudeLineBody {

    InitLine(String cwd, @Nullable AgentTypeId model, @Nullable TaskId agent) {
      this("system", "init", cwd, model, List.of(), List.of(), agent);
    }
  }

  record MessageLine(String type, ClaudeMessage message) implements ClaudeLineBody {}

  record StreamLine(String type, StreamLineEvent event) implements ClaudeLineBody {

    StreamLine(StreamLineEvent event) {
      this("stream_event", event);
    }
  }

  record ResultLine(
      String type,
      String subtype,
      boolean is_error,
      String result,
      @Nullable AgentStatus terminal_reason,
      long duration_ms,
      @Nullable JsonNode num_turns,
      @Nullable BigDecimal total_cost_usd,
      @Nullable TokenUsage usage)
      implements ClaudeLineBody {}

  /// An error or a question.
  record NoticeLine(
      String type,
      String subtype,
      String message,
      @Nullable InputId input_id,
      @Nullable AuthId auth_id)
      implements ClaudeLineBody {

    NoticeLine(String subtype, String message, @Nullable InputId input, @Nullable AuthId auth) {
      this("system", subtype, message, input, auth);
    }
  }

  /// A message of an agent, or one with the result of a tool, which has no id and no type.
  record ClaudeMessage(
      @Nullable String id, @Nullable String type, String role, List<ClaudeContent> content) {

    static ClaudeMessage assistant(@Nullable BlockId block, ClaudeContent... content) {
      var id = "msg_" + (block == null ? "" : block.value());
      return new ClaudeMessage(id, "message", "assistant", List.of(content));
    }

    static ClaudeMessage user(ClaudeContent content) {
      return new ClaudeMessage(null, null, "user", List.of(content));
    }
  }

  /// A part of a message: text, a tool call, or the result of one.
  record ClaudeContent(
      String type,
      @Nullable String text,
      @Nullable ToolCallId id,
      @Nullable String name,
      @Nullable ObjectNode input,
      @Nullable ToolCallId tool_use_id,
      @Nullable String content,
      @Nullable Boolean is_error) {

    static ClaudeContent text(String text) {
      return new ClaudeContent("text", text, null, null, null, null, null, null);
    }

    static ClaudeContent call(ToolCallId id, String name, ObjectNode input) {
      return new ClaudeContent("tool_use", null, id, name, input, null, null, null);
    }

    static ClaudeContent result(ToolCallId call, String content, boolean error) {
      return new ClaudeContent("tool_result", null, null, null, null, call, content, error);
    }
  }

  /// A step of a message that is being written.
  record StreamLineEvent(
      String type,
      @Nullable ClaudeMessage message,
      @Nullable Integer index,
      @Nullable ClaudeContent content_block,
      @Nullable StreamLineDelta delta,
      @Nullable TokenUsage usage) {

    static StreamLineEvent messageStart(@Nullable BlockId block) {
      var message = ClaudeMessage.assistant(block);
      return new StreamLineEvent("message_start", message, null, null, null, null);
    }

    static StreamLineEvent blockStart() {
      return new StreamLineEvent(
          "content_block_start", null, 0, ClaudeContent.text(""), null, null);
    }

    static StreamLineEvent blockDelta(StreamLineDelta delta) {
      return new StreamLineEvent("content_block_delta", null, 0, null, delta, null);
    }

    static StreamLineEvent blockStop() {
      return new StreamLineEvent("content_block_stop", null, 0, null, null, null);
    }

    static StreamLineEvent messageDelta(@Nullable String stopReason, @Nullable TokenUsage usage) {
      var delta = new StreamLineDelta(null, null, null, stopReason);
      return new StreamLineEvent("message_delta", null, null, null, delta, usage);
    }

    static StreamLineEvent messageStop() {
      return new StreamLineEvent("message_stop", null, null, null, null, null);
    }
  }

  /// New text, a new thought, or why the message ends.
  record StreamLineDelta(
      @Nullable String type,
      @Nullable String text,
      @Nullable String thinking,
      @Nullable String stop_reason) {}
}
