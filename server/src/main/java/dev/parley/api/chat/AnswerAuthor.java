package dev.parley.api.chat;

import dev.parley.protocol.RoutingFacts;
import dev.parley.protocol.TaskEndFacts;
import java.util.Optional;

/// Finds the agent that wrote the answer of a delegated task.
final class AnswerAuthor {

  private AnswerAuthor() {}

  /// The agent to which all of the work was delegated.
  static Optional<String> of(TaskEndFacts task) {
    return task.routing()
        .filter(RoutingFacts::delegatesToOneAgent)
        .flatMap(RoutingFacts::firstAgent);
  }
}
