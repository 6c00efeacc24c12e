package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What happens to a task as a whole.
public sealed interface TaskEvent extends Event {

  /// A task begins to exist: the first event of that task.
  record TaskCreated(
      Initiator initiator,
      @Nullable ObjectNode metadata,
      @Nullable MessageId messageId,
      @Nullable String prompt,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String workingDirectory)
      implements TaskEvent {}

  /// A task goes from one state to another.
  record TaskStatus(TaskState status, @Nullable String message, @Nullable ObjectNode metadata)
      implements TaskEvent {}

  /// A task succeeded: the last event of that task.
  record TaskComplete(
      @Nullable String content, @Nullable List<ArtifactId> artifacts, @Nullable ObjectNode metadata)
      implements TaskEvent {
    public TaskComplete {
      artifacts = artifacts == null ? null : List.copyOf(artifacts);
    }
  }

  /// Somebody asked that a task stop; whoever runs it writes its end.
  record CancelRequested(@Nullable String requestedBy, @Nullable String reason)
      implements TaskEvent {}

  /// A client stored a task of its own.
  record TaskStored(ObjectNode task, @Nullable String principal) implements TaskEvent {
    /// Stored by nobody.
    public TaskStored(ObjectNode task) {
      this(task, null);
    }
  }

  /// A client removed a stored task.
  record TaskDeleted(@Nullable String reason, @Nullable String principal) implements TaskEvent {
    /// Removed by nobody.
    public TaskDeleted(@Nullable String reason) {
      this(reason, null);
    }
  }

  /// Who caused a task.
  enum Initiator implements WireName {
    USER,
    AGENT
  }

  /// Which task starts first when not all can.
  enum Priority implements WireName {
    LOW,
    NORMAL,
    HIGH,
    CRITICAL
  }
}
