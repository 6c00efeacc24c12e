package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.protocol.AgentTypeId;
import dev.parley.tool.Tool;
import java.util.HashSet;
import java.util.List;

/// A configured agent: who it is, what it is told, what it thinks with and what it can call.
public record AgentType(
    AgentTypeId id,
    String name,
    String description,
    String instructions,
    Model model,
    List<Tool> tools) {

  /// The id of the agent that is there without any configuration.
  public static final AgentTypeId ASSISTANT = new AgentTypeId("assistant");

  public AgentType {
    tools = List.copyOf(tools);
    var names = new HashSet<String>();
    for (var tool : tools) {
      if (!names.add(tool.name())) {
        throw new IllegalArgumentException("two tools are called " + tool.name());
      }
    }
  }

  /// The agent that is there without any configuration.
  public static AgentType assistant(Model model, List<Tool> tools) {
    return new AgentType(
        ASSISTANT,
        "Assistant",
        "Answers, reads files, calculates, and writes reports and datasets.",
        "You are a helpful assistant. Use tools where they help, and say plainly what you found.",
        model,
        tools);
  }
}
