package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The start, progress or end of a tool call.
public sealed interface ToolEvent extends Event {

  /// The tool call.
  ToolCallId toolCallId();

  /// A tool call is about to start. Recovery uses `attempt`, `key` and `epoch`.
  record ToolStart(
      ToolCallId toolCallId,
      String toolName,
      ObjectNode arguments,
      @Nullable ObjectNode metadata,
      @Nullable Integer attempt,
      @Nullable String key,
      @Nullable Long epoch,
      @Nullable SubagentMetadata subagentMetadata)
      implements ToolEvent {

    /// What the metadata says.
    public ToolCallFacts facts() {
      return ToolCallFacts.of(metadata);
    }
  }

  /// A tool call makes progress. `progress` is between 0 and 1 and never decreases.
  record ToolProgress(
      ToolCallId toolCallId,
      double progress,
      @Nullable String message,
      @Nullable ObjectNode metadata)
      implements ToolEvent {
    public ToolProgress {
      if (!(progress >= 0 && progress <= 1)) {
        throw new IllegalArgumentException("progress must be between 0 and 1: " + progress);
      }
    }

    /// What the metadata says.
    public ToolCallFacts facts() {
      return ToolCallFacts.of(metadata);
    }
  }

  /// A tool call has ended, with or without success. It is never run again.
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

    /// What the metadata says.
    public ToolCallFacts facts() {
      return ToolCallFacts.of(metadata);
    }
  }

  /// The sub-agents that a tool call spawned.
  record SubagentMetadata(List<TaskId> taskIds, int count, Mode mode) {
    public SubagentMetadata {
      taskIds = List.copyOf(taskIds);
    }
  }

  /// The way a batch of sub-agents runs.
  enum Mode implements WireName {
    PARALLEL,
    SERIAL
  }

  /// The outcome of a call that neither clearly succeeded nor clearly failed.
  enum Outcome implements WireName {
    OUTCOME_UNKNOWN,
    CANCELED,
    INTERRUPTED
  }
}
