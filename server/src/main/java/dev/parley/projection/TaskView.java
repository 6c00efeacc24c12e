package dev.parley.projection;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A task in its current state. `seq` is the seq of its `task-created` event.
public record TaskView(
    TaskId taskId,
    ContextId contextId,
    @Nullable TaskId parentTaskId,
    TaskId rootTaskId,
    AgentTypeId agentId,
    AgentLevel agentLevel,
    @Nullable InvocationId invocationId,
    @Nullable ToolCallId spawnedByCallId,
    long seq,
    TaskState status,
    @Nullable String message,
    Initiator initiator,
    @Nullable MessageId messageId,
    @Nullable String prompt,
    @Nullable String taskType,
    @Nullable Priority priority,
    @Nullable Long timeoutMs,
    @Nullable String workingDirectory,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Instant endedAt,
    @Nullable Boolean cancelRequested,
    @Nullable String content,
    @Nullable List<ArtifactId> artifacts,
    @Nullable TaskError error,
    @Nullable ObjectNode metadata) {

  /// What the metadata says about the start of the task.
  public TaskFacts facts() {
    return TaskFacts.of(metadata);
  }

  /// What the metadata says about the latest state of the task.
  public StatusFacts statusFacts() {
    return StatusFacts.of(metadata);
  }

  /// What the metadata says about the end of the task.
  public TaskEndFacts endFacts() {
    return TaskEndFacts.of(metadata);
  }

  /// Why a task failed.
  public record TaskError(ErrorCode code, String message, boolean retryable) {}
}
