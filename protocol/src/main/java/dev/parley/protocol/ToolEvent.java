package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The life of a tool call.
public sealed interface ToolEvent extends Event {

  /// The call that is meant.
  ToolCallId toolCallId();

  /// A tool is about to run. `attempt`, `key` and `epoch` are the intent that recovery goes by.
  record ToolStart(
      ToolCallId toolCallId,
      String toolName,
      ObjectNode arguments,
      @Nullable ObjectNode metadata,
      @Nullable Integer attempt,
      @Nullable String key,
      @Nullable Long epoch,
      @Nullable SubagentMetadata subagentMetadata)
      implements ToolEvent {}

  /// A tool is on its way; `progress` is between 0 and 1 and never falls.
  record ToolProgress(
      ToolCallId toolCallId,
      double progress,
      @Nullable String message,
      @Nullable ObjectNode metadata)
      implements ToolEvent {
    public ToolProgress {
      if (!(progress >= 0 && progress <= 1)) {
        throw new IllegalArgumentException("progress is between 0 and 1: " + progress);
      }
    }
  }

  /// A tool has ended, well or not. A call that has this is never run again.
  record ToolComplete(
      ToolCallId toolCallId,
      String toolName,
      boolean success,
      @Nullable JsonNode result,
      @Nullable String error,
      @Nullable ObjectNode metadata,
      @Nullable Outcome outcome,
      @Nullable SubagentMetadata subagentMetadata)
      implements ToolEvent {
    public ToolComplete {
      result = Json.present(result);
    }
  }

  /// Which sub-agents a tool call spawned.
  record SubagentMetadata(List<TaskId> taskIds, int count, Mode mode) {
    public SubagentMetadata {
      taskIds = List.copyOf(taskIds);
    }
  }

  /// How a batch of sub-agents runs.
  enum Mode implements WireName {
    PARALLEL,
    SERIAL
  }

  /// What is known of an effect that did not plainly succeed or fail.
  enum Outcome implements WireName {
    OUTCOME_UNKNOWN,
    CANCELED,
    INTERRUPTED
  }
}
