package dev.parley.api.contexts.workflow;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The fields of an event besides its envelope. The components are written in snake_case; each is
/// always present, even if null.
sealed interface WorkflowEvent {

  /// The event's name.
  default String eventType() {
    return switch (this) {
      case InputReceived _ -> "workflow.input.received";
      case LifecycleUpdated _ -> "workflow.lifecycle.updated";
      case NodeStarted _ -> "workflow.node.started";
      case NodeOutputDelta _ -> "workflow.node.output.delta";
      case NodeOutputSummary _ -> "workflow.node.output.summary";
      case NodeCompleted _ -> "workflow.node.completed";
      case NodeFailed _ -> "workflow.node.failed";
      case ToolStarted _ -> "workflow.tool.started";
      case ToolProgressed _ -> "workflow.tool.progress";
      case ToolCompleted _ -> "workflow.tool.completed";
      case SubflowProgress _ -> "workflow.subflow.progress";
      case SubflowCompleted _ -> "workflow.subflow.completed";
      case ResultFinal _ -> "workflow.result.final";
      case ResultCancelled _ -> "workflow.result.cancelled";
      case ArtifactManifest _ -> "workflow.artifact.manifest";
      case Diagnostic diagnostic -> "workflow.diagnostic." + diagnostic.topic();
    };
  }

  /// An agent got input: a message, or an answer to its question.
  record InputReceived(
      String source,
      @Nullable MessageId messageId,
      @Nullable InputId inputId,
      @Nullable Role role,
      @Nullable String content,
      @Nullable List<JsonNode> parts,
      @Nullable JsonNode value,
      InputEvent.@Nullable Provider providedBy,
      @Nullable String userId,
      @Nullable AgentTypeId answeringAgentId,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// The object named by `scope` has entered a phase; `details` are the event's own fields.
  record LifecycleUpdated(String scope, String phase, ObjectNode details)
      implements WorkflowEvent {}

  /// A request to a model starts.
  record NodeStarted(int iteration, String model, int messageCount, int toolCount)
      implements WorkflowEvent {}

  /// A piece of text; `from_seq` is the seq of the first one, if several were merged.
  record NodeOutputDelta(String delta, int index, @Nullable BlockId blockId, @Nullable Long fromSeq)
      implements WorkflowEvent {}

  /// An agent's message in the conversation.
  record NodeOutputSummary(
      MessageId messageId,
      String content,
      @Nullable List<JsonNode> parts,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A block of text is complete.
  record NodeCompleted(
      String content,
      @Nullable BlockId blockId,
      @Nullable FinishReason finishReason,
      boolean partial,
      @Nullable BlockId replaces,
      @Nullable List<ToolCall> toolCalls)
      implements WorkflowEvent {}

  /// A step of the run failed.
  record NodeFailed(ErrorCode code, String error, boolean retryable, ErrorScope scope)
      implements WorkflowEvent {}

  /// A tool call starts; `tool_name` is `subagent` if it spawns sub-agents.
  record ToolStarted(
      String toolName,
      String originalToolName,
      ObjectNode arguments,
      @Nullable Integer attempt,
      @Nullable ObjectNode metadata,
      @Nullable SubagentMetadata subagentMetadata)
      implements WorkflowEvent {}

  /// A tool call reports progress.
  record ToolProgressed(double progress, @Nullable String message, @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A tool call has ended.
  record ToolCompleted(
      String toolName,
      String originalToolName,
      boolean success,
      @Nullable JsonNode result,
      @Nullable String error,
      @Nullable Outcome outcome,
      @Nullable ObjectNode metadata,
      @Nullable SubagentMetadata subagentMetadata)
      implements WorkflowEvent {}

  /// A sub-agent was requested or has ended, and others of its batch have not ended.
  record SubflowProgress(
      TaskId subtaskId,
      String subtaskStatus,
      @Nullable AgentTypeId subtaskAgentId,
      @Nullable String prompt,
      @Nullable String result,
      @Nullable String error,
      int completed,
      int total,
      long tokens,
      long toolCalls)
      implements WorkflowEvent {}

  /// The last sub-agent of a batch has ended; `failed` includes the `cancelled` ones.
  record SubflowCompleted(
      TaskId subtaskId,
      String subtaskStatus,
      @Nullable String result,
      @Nullable String error,
      int total,
      int success,
      int failed,
      int cancelled,
      long tokens,
      long toolCalls)
      implements WorkflowEvent {}

  /// A run has completed or failed. This is its last event.
  record ResultFinal(
      String status,
      @Nullable String content,
      @Nullable List<ArtifactId> artifacts,
      @Nullable String message,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A run was canceled. This is its last event.
  record ResultCancelled(String status, @Nullable String message, @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A part of an artifact was written. The event does not include its content.
  record ArtifactManifest(
      ArtifactId artifactId,
      @Nullable Integer version,
      String artifactType,
      @Nullable String name,
      @Nullable String description,
      @Nullable String mimeType,
      @Nullable Encoding encoding,
      int index,
      boolean complete,
      @Nullable JsonNode schema,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A diagnostic event; `details` are the event's own fields.
  record Diagnostic(String topic, ObjectNode details) implements WorkflowEvent {}
}
