package dev.parley.door.contexts.workflow;

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

/// What an event says beside its envelope, in this dialect. The components are its fields, in
/// snake_case; each is always there, if only as null.
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

  /// A person or an agent said something to the agents: a message, or an answer they asked for.
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

  /// Something is in another phase; `scope` is what, `details` the event's own fields.
  record LifecycleUpdated(String scope, String phase, ObjectNode details)
      implements WorkflowEvent {}

  /// A model is about to be asked.
  record NodeStarted(int iteration, String model, int messageCount, int toolCount)
      implements WorkflowEvent {}

  /// A piece of text; `from_seq` is where the first stood, if several were made one.
  record NodeOutputDelta(String delta, int index, @Nullable BlockId blockId, @Nullable Long fromSeq)
      implements WorkflowEvent {}

  /// What an agent said, as a message of the conversation.
  record NodeOutputSummary(
      MessageId messageId,
      String content,
      @Nullable List<JsonNode> parts,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A block of text is finished.
  record NodeCompleted(
      String content,
      @Nullable BlockId blockId,
      @Nullable FinishReason finishReason,
      boolean partial,
      @Nullable BlockId replaces,
      @Nullable List<ToolCall> toolCalls)
      implements WorkflowEvent {}

  /// Something failed.
  record NodeFailed(ErrorCode code, String error, boolean retryable, ErrorScope scope)
      implements WorkflowEvent {}

  /// A tool is about to run; `tool_name` is `subagent` if it spawns sub-agents.
  record ToolStarted(
      String toolName,
      String originalToolName,
      ObjectNode arguments,
      @Nullable Integer attempt,
      @Nullable ObjectNode metadata,
      @Nullable SubagentMetadata subagentMetadata)
      implements WorkflowEvent {}

  /// A tool is on its way.
  record ToolProgressed(double progress, @Nullable String message, @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A tool has ended.
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

  /// A sub-agent was asked for or has ended, and others of its batch have not.
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

  /// The last sub-agent of a batch has ended; `failed` counts the `cancelled` ones too.
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

  /// A run has ended by itself, well or not: its last event.
  record ResultFinal(
      String status,
      @Nullable String content,
      @Nullable List<ArtifactId> artifacts,
      @Nullable String message,
      @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A run was canceled: its last event.
  record ResultCancelled(String status, @Nullable String message, @Nullable ObjectNode metadata)
      implements WorkflowEvent {}

  /// A part of an artifact was written. Its content is not in here.
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

  /// What only those want who look closely: `details` are the event's own fields.
  record Diagnostic(String topic, ObjectNode details) implements WorkflowEvent {}
}
