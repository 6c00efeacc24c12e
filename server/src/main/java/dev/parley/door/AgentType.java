package dev.parley.door;

import dev.parley.protocol.AgentTypeId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An agent type as callers may know it.
///
/// `tools` is what its configuration names, such as groups; `toolNames` are the names of the tools themselves. In those a
/// `*` stands for any text: the tools of MCP servers, and of programs that choose their own, are not known before they run.
public record AgentType(
    AgentTypeId id,
    String name,
    @Nullable String description,
    String type,
    @Nullable String model,
    List<String> tools,
    List<String> toolNames,
    List<String> taskTypes) {
  public AgentType {
    tools = List.copyOf(tools);
    toolNames = List.copyOf(toolNames);
    taskTypes = List.copyOf(taskTypes);
  }
}
