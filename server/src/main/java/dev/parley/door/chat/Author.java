package dev.parley.door.chat;

import dev.parley.task.Strategy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Finds the agent that wrote the answer of a delegated task.
final class Author {

  private Author() {}

  /// The agent to which all of the work was delegated, according to the task's metadata.
  static Optional<String> of(@Nullable ObjectNode metadata) {
    if (metadata == null) {
      return Optional.empty();
    }
    var routing = metadata.path("routing");
    var strategy = routing.path("strategy").asString("");
    if (!strategy.equals(Strategy.SINGLE.wire()) && !strategy.equals(Strategy.DELEGATE.wire())) {
      return Optional.empty();
    }
    var agent = routing.path("agents").path(0).path("agentId").asString("");
    return agent.isEmpty() ? Optional.empty() : Optional.of(agent);
  }
}
