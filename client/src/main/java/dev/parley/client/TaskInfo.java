package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The current state of a task.
public record TaskInfo(
    TaskId taskId,
    ContextId contextId,
    @Nullable TaskId parentTaskId,
    TaskId rootTaskId,
    AgentTypeId agentId,
    TaskState status,
    @Nullable String message,
    @Nullable MessageId messageId,
    @Nullable String prompt,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Instant endedAt,
    @Nullable Boolean cancelRequested,
    @Nullable String content,
    @Nullable List<ArtifactId> artifacts,
    @Nullable TaskError error,
    @Nullable ObjectNode metadata) {
  public TaskInfo {
    artifacts = artifacts == null ? null : List.copyOf(artifacts);
  }

  /// Why a task failed.
  public record TaskError(String code, String message, boolean retryable) {}
}
