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
import tools.jackson.databind.node.ObjectNode;

/// Combines the results of the supervisor's agents.
final class SupervisorResults {

  private SupervisorResults() {}

  /// The supervisor's own outcome: the answer of one agent, or the combined answer; and each
  /// result.
  static TaskOutcome outcome(
      TaskRun taskRun, RoutingDecision routingDecision, TaskOutcome.Completed completed) {
    var found = SubtaskResults.of(taskRun);
    var about = about(found, routingDecision);
    var one =
        routingDecision.strategy() == RoutingStrategy.SINGLE
            || routingDecision.strategy() == RoutingStrategy.DELEGATE;
    return new TaskOutcome.Completed(one ? found.answer().orElse("") : completed.content(), about);
  }

  /// The supervisor's own failure, and the result of each agent.
  static TaskOutcome outcome(
      TaskRun taskRun, RoutingDecision routingDecision, TaskOutcome.Failed failed) {
    return new TaskOutcome.Failed(
        failed.code(),
        failed.message(),
        failed.retryable(),
        about(SubtaskResults.of(taskRun), routingDecision));
  }

  private static ObjectNode about(SubtaskResults found, RoutingDecision routingDecision) {
    return TaskEndFacts.ofRouting(routingDecision.json(), found.list());
  }

  /// The finish reason of the first answer that ended early. A text that was made of it is not
  /// complete either.
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
