package dev.parley.task;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskFacts;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The agents that can run tasks, and the default agent for tasks that name none.
public record AgentDirectory(Map<AgentTypeId, Agent> byId, AgentTypeId standard) {

  public AgentDirectory {
    byId = Map.copyOf(byId);
    if (!byId.containsKey(standard)) {
      throw new IllegalArgumentException("the default agent is not one of the agents: " + standard);
    }
  }

  Agent get(AgentTypeId id) {
    var agent = byId.get(id);
    if (agent == null) {
      throw new IllegalArgumentException("no agent is called " + id);
    }
    return agent;
  }

  /// Adds the agent and its model to the metadata of a new task.
  void describe(AgentTypeId id, ObjectNode metadata) {
    var agent = byId.get(id);
    TaskFacts.putAgent(metadata, id, agent == null ? null : agent.model().orElse(null));
  }

  AgentTypeId resolve(@Nullable AgentTypeId id) {
    if (id == null) {
      return standard;
    }
    if (!byId.containsKey(id)) {
      var known =
          byId.keySet().stream().map(AgentTypeId::value).sorted().collect(Collectors.joining(", "));
      throw new Rejection.Invalid(
          "unknown-agent", "no agent is called " + id + "; known: " + known);
    }
    return id;
  }
}
