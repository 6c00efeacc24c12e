package dev.parley.api.chat;

import dev.parley.task.RoutingStrategy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Finds the agent that wrote the answer of a delegated task.
final class AnswerAuthor {

  private AnswerAuthor() {}

  /// The agent to which all of the work was delegated, according to the task's metadata.
  static Optional<String> of(@Nullable ObjectNode metadata) {
    if (metadata == null) {
      return Optional.empty();
    }
    var routing = metadata.path("routing");
    var strategy = routing.path("strategy").asString("");
    if (!strategy.equals(RoutingStrategy.SINGLE.wire())
        && !strategy.equals(RoutingStrategy.DELEGATE.wire())) {
      return Optional.empty();
    }
    var agent = routing.path("agents").path(0).path("agentId").asString("");
    return agent.isEmpty() ? Optional.empty() : Optional.of(agent);
  }
}
