package dev.parley.api.chat;

import dev.parley.api.chat.ChatEvent.ChatEventBody;
import dev.parley.api.chat.ChatTaskResults.ChatStatus;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Outcome;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An event of a task, in the chat API.
record AgentEvent(Entry entry, String agentId, AgentEventPayload payload) {

  /// An event in a task's list of events.
  record ListedAgentEvent(
      String id,
      String taskId,
      String agentId,
      String type,
      Instant timestamp,
      ObjectNode payload) {}

  /// The event for a task's list of events, where every payload has the conversation's id.
  ListedAgentEvent listed() {
    var origin = entry.origin();
    ObjectNode json = Json.mapper().valueToTree(payload);
    return new ListedAgentEvent(
        entry.eventId().toString(),
        origin == null ? "" : origin.taskId().value(),
        agentId,
        payload.type().ofTask(),
        entry.timestamp(),
        json.put("conversationId", entry.contextId().value()));
  }

  /// The fields of an event, by its type. Missing fields are not written.
  sealed interface AgentEventPayload {

    default AgentEventType type() {
      return switch (this) {
        case StartedPayload _ -> AgentEventType.STARTED;
        case ProgressPayload _ -> AgentEventType.PROGRESS;
        case OutputPayload _ -> AgentEventType.OUTPUT;
        case ToolCallPayload _ -> AgentEventType.TOOL_CALL;
        case ToolResultPayload _ -> AgentEventType.TOOL_RESULT;
        case SubagentStartPayload _ -> AgentEventType.SUBAGENT_START;
        case SubagentStopPayload _ -> AgentEventType.SUBAGENT_STOP;
        case CompletedPayload _ -> AgentEventType.COMPLETED;
        case FailedPayload _ -> AgentEventType.FAILED;
        case CancelledPayload _ -> AgentEventType.CANCELLED;
      };
    }
  }

  record StartedPayload(String prompt, List<String> tools, AgentTypeId agentId, String agentName)
      implements AgentEventPayload {}

  /// `metadata` is data for programs: a record, or free-form JSON.
  record ProgressPayload(
      String message, @Nullable JsonNode percentage, String stage, @Nullable Object metadata)
      implements AgentEventPayload {}

  record OutputPayload(
      String content,
      boolean partial,
      @Nullable BlockId blockId,
      @Nullable BlockId replaces,
      @Nullable FinishReason finishReason)
      implements AgentEventPayload, ChatEventBody {}

  record ToolCallPayload(String tool, ObjectNode input, ToolCallId toolUseId)
      implements AgentEventPayload {}

  /// `output` is a JSON null if the tool returned neither a result nor an error.
  record ToolResultPayload(
      String tool,
      JsonNode output,
      boolean success,
      ToolCallId toolUseId,
      @Nullable String error,
      @Nullable Outcome outcome)
      implements AgentEventPayload {}

  record SubagentStartPayload(
      TaskId taskId, @Nullable AgentTypeId agentId, @Nullable String agentName, String prompt)
      implements AgentEventPayload {}

  record SubagentStopPayload(
      TaskId taskId,
      @Nullable AgentTypeId agentId,
      @Nullable String agentName,
      ChatStatus status,
      @Nullable String result,
      @Nullable String error)
      implements AgentEventPayload {}

  /// `finishReason`, `truncated` and `empty` are present if the answer is incomplete or has no text.
  record CompletedPayload(
      String result,
      @Nullable List<ArtifactReference> artifacts,
      @Nullable ObjectNode usage,
      long duration,
      @Nullable BigDecimal costUsd,
      @Nullable EarlyEnd finishReason,
      @Nullable Boolean truncated,
      @Nullable Boolean empty)
      implements AgentEventPayload {}

  record ArtifactReference(ArtifactId id) {}

  record FailedPayload(String error, boolean recoverable, @Nullable ErrorCode code)
      implements AgentEventPayload {}

  record CancelledPayload(String reason, AgentTypeId agentId) implements AgentEventPayload {}

  /// The types of a task's events, with their names in the task's list of events and in the
  /// conversation's stream.
  enum AgentEventType {
    STARTED("task:started", "task_started"),
    PROGRESS("task:progress", "task_progress"),
    OUTPUT("task:output", "task_output"),
    TOOL_CALL("task:tool_call", "tool_call"),
    TOOL_RESULT("task:tool_result", "tool_result"),
    SUBAGENT_START("task:subagent_start", "subagent_start"),
    SUBAGENT_STOP("task:subagent_stop", "subagent_stop"),
    COMPLETED("task:completed", "task_completed"),
    FAILED("task:failed", "task_failed"),
    CANCELLED("task:cancelled", "task_cancelled");

    private final String task;
    private final String chat;

    AgentEventType(String task, String chat) {
      this.task = task;
      this.chat = chat;
    }

    /// The name in a task's list of events.
    String ofTask() {
      return task;
    }

    /// The name in a conversation's stream.
    String ofChat() {
      return chat;
    }
  }
}
