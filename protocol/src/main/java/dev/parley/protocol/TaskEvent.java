package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A change of a task as a whole.
public sealed interface TaskEvent extends Event {

  /// A task was created. It is the first event of the task.
  record TaskCreated(
      Initiator initiator,
      @Nullable ObjectNode metadata,
      @Nullable MessageId messageId,
      @Nullable String prompt,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String workingDirectory)
      implements TaskEvent {

    /// What the metadata says.
    public TaskFacts facts() {
      return TaskFacts.of(metadata);
    }
  }

  /// The state of a task changed.
  record TaskStatus(TaskState status, @Nullable String message, @Nullable ObjectNode metadata)
      implements TaskEvent {

    /// What the metadata says.
    public StatusFacts facts() {
      return StatusFacts.of(metadata);
    }
  }

  /// A task succeeded. It is the last event of the task.
  record TaskComplete(
      @Nullable String content, @Nullable List<ArtifactId> artifacts, @Nullable ObjectNode metadata)
      implements TaskEvent {
    public TaskComplete {
      artifacts = artifacts == null ? null : List.copyOf(artifacts);
    }

    /// What the metadata says.
    public TaskEndFacts facts() {
      return TaskEndFacts.of(metadata);
    }
  }

  /// The cancellation of a task was requested. The server or the agent that runs the task writes
  /// its end.
  record CancelRequested(@Nullable String requestedBy, @Nullable String reason)
      implements TaskEvent {}

  /// A client stored a task that it runs itself.
  record TaskStored(ObjectNode task, @Nullable String principal) implements TaskEvent {
    /// A task that no user stored.
    public TaskStored(ObjectNode task) {
      this(task, null);
    }
  }

  /// A client removed a stored task.
  record TaskDeleted(@Nullable String reason, @Nullable String principal) implements TaskEvent {
    /// A removal that no user made.
    public TaskDeleted(@Nullable String reason) {
      this(reason, null);
    }
  }

  /// The initiator of a task.
  enum Initiator implements WireName {
    USER,
    AGENT
  }

  /// The priority of a task when not all can start at once.
  enum Priority implements WireName {
    LOW,
    NORMAL,
    HIGH,
    CRITICAL
  }
}
