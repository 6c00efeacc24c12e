package dev.parley.door;

import dev.parley.protocol.AgentTypeId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An agent type as callers may know it.
public record AgentType(
    AgentTypeId id,
    String name,
    @Nullable String description,
    String type,
    @Nullable String model,
    List<String> tools,
    List<String> taskTypes) {
  public AgentType {
    tools = List.copyOf(tools);
    taskTypes = List.copyOf(taskTypes);
  }
}
