package dev.parley.protocol;

import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// The decision of a supervisor: `routing` in the metadata of `task-status` and `task-complete`.
public record RoutingFacts(ObjectNode json) {

  /// How the agents work together, if it is known.
  public Optional<RoutingStrategy> strategy() {
    return WireName.find(RoutingStrategy.class, json.path("strategy").asString(""));
  }

  /// True if one agent does all of the work.
  public boolean delegatesToOneAgent() {
    return strategy()
        .filter(
            strategy ->
                switch (strategy) {
                  case SINGLE, DELEGATE -> true;
                  case PARALLEL, SEQUENTIAL -> false;
                })
        .isPresent();
  }

  /// Why the supervisor decided so.
  public String reasoning() {
    return json.path("reasoning").asString("");
  }

  /// The first agent that gets work.
  public Optional<String> firstAgent() {
    return Optional.of(json.path("agents").path(0).path("agentId").asString(""))
        .filter(agent -> !agent.isEmpty());
  }
}
