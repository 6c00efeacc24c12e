package dev.parley.door.chat;

import dev.parley.task.Strategy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Who wrote the answer of a task that another agent was to work on alone.
final class Author {

  private Author() {}

  /// The agent that the task's metadata say all of the work was handed to, if it was.
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
