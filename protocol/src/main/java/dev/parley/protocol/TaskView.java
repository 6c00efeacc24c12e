package dev.parley.protocol;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.Priority;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
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
  ///
  /// `code` is the name of an [ErrorCode]; newer servers may have others.
  public record TaskError(String code, String message, boolean retryable) {

    /// The code, if this version knows it.
    public Optional<ErrorCode> known() {
      return WireName.find(ErrorCode.class, code);
    }
  }
}
