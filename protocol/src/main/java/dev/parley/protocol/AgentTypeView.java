package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// An agent type, as APIs show it to callers.
///
/// `tools` are the entries of its configuration, such as groups; `toolNames` are the names of the
/// tools themselves. A `*` in such a name matches any text: the tools of MCP servers, and of
/// programs that choose their own tools, are unknown before they run.
public record AgentTypeView(
    AgentTypeId id,
    String name,
    @Nullable String description,
    String type,
    @Nullable String model,
    List<String> tools,
    List<String> toolNames,
    List<String> taskTypes) {
  public AgentTypeView {
    tools = List.copyOf(tools);
    toolNames = List.copyOf(toolNames);
    taskTypes = List.copyOf(taskTypes);
  }
}
