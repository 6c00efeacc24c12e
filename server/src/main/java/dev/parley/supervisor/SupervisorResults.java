package dev.parley.supervisor;

import dev.parley.agent.SubtaskResults;
import dev.parley.model.ModelReply;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.util.Optional;

/// Combines the results of the supervisor's agents.
final class SupervisorResults {

  private SupervisorResults() {}

  /// The supervisor's own outcome: the answer of one agent, or the combined answer; and each
  /// result.
  static TaskOutcome outcome(
      TaskRun taskRun, RoutingDecision routingDecision, TaskOutcome.Completed completed) {
    var found = SubtaskResults.of(taskRun);
    var about = TaskEndFacts.ofRouting(routingDecision.json(), found.list());
    var one =
        routingDecision.strategy() == RoutingStrategy.SINGLE
            || routingDecision.strategy() == RoutingStrategy.DELEGATE;
    return new TaskOutcome.Completed(one ? found.answer().orElse("") : completed.content(), about);
  }

  /// The finish reason of the agents' answers, if they are returned unchanged.
  static FinishReason reason(TaskRun taskRun) {
    return SubtaskResults.of(taskRun).earlyEnd().map(EarlyEnd::reason).orElse(FinishReason.STOP);
  }

  /// The error of the agent that failed, if there is one.
  static Optional<ModelReply> failure(TaskRun taskRun) {
    return SubtaskResults.of(taskRun)
        .error()
        .map(error -> new ModelReply.ModelError(error.code(), error.message(), error.retryable()));
  }
}
