package dev.parley.supervisor;

import dev.parley.protocol.AgentTypeId;
import java.util.List;

/// An agent that the supervisor can choose.
public record TeamAgent(AgentTypeId id, String name, String description, List<String> taskTypes) {
  public TeamAgent {
    taskTypes = List.copyOf(taskTypes);
  }
}
