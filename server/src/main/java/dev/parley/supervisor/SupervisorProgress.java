package dev.parley.supervisor;

import dev.parley.agent.TaskHistory;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The progress of a supervisor's task. A former version ran a model loop whose model was this
/// supervisor; its tasks have one call of `subagents` for every strategy, and a block without text
/// for each of its turns. Not thread-safe.
final class SupervisorProgress extends TaskHistory {

  private @Nullable RoutingDecision decision;
  private int combineAttempts;

  SupervisorProgress(List<Entry> entries) {
    read(entries);
  }

  @Override
  public void apply(Event event, Instant at) {
    super.apply(event, at);
    switch (event) {
      case TaskStatus status when decision == null ->
          status.facts().routing().ifPresent(json -> decision = RoutingDecision.read(json.json()));
      case SubtaskComplete _ -> combineAttempts = 0;
      case InternalLlmCall _ -> combineAttempts++;
      default -> {} // Does not affect the next step.
    }
  }

  Optional<RoutingDecision> decision() {
    return Optional.ofNullable(decision);
  }

  /// The subtasks that have not ended.
  List<TaskId> open() {
    return subtasks().entrySet().stream()
        .filter(subtask -> subtask.getValue().isEmpty())
        .map(Map.Entry::getKey)
        .toList();
  }

  /// The ends of the subtasks, in the order in which the subtasks were created.
  List<SubtaskComplete> ends() {
    return subtasks().values().stream().flatMap(Optional::stream).toList();
  }

  boolean anySucceeded() {
    return ends().stream().anyMatch(end -> end.status() == TaskState.COMPLETED);
  }

  boolean anyFailed() {
    return ends().stream().anyMatch(end -> end.status() != TaskState.COMPLETED);
  }

  /// The call that created the subtasks, if it has not ended; empty if there is one agent.
  Optional<StartedCall> openCall() {
    return openCalls().values().stream().findFirst();
  }

  /// The combined answer, if it is complete.
  Optional<String> answer() {
    return lastBlock().filter(block -> block.toolCalls() == null).map(block -> block.content());
  }

  /// How often a model was called since the last subtask ended.
  int combineAttempts() {
    return combineAttempts;
  }
}
