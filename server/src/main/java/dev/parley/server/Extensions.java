package dev.parley.server;

import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool;
import java.util.List;
import java.util.Map;

/// What a program that embeds a server brings along: agents and tools of its own.
///
/// Agents are called by their ids; tools can be named in the configuration of agents.
public record Extensions(Map<AgentTypeId, Agent> agents, List<Tool> tools, FailPoint failPoint) {

  /// Nothing.
  public static final Extensions NONE = new Extensions(Map.of(), List.of(), FailPoint.NONE);

  public Extensions {
    agents = Map.copyOf(agents);
    tools = List.copyOf(tools);
  }

  /// Agents and tools.
  public static Extensions of(Map<AgentTypeId, Agent> agents, List<Tool> tools) {
    return new Extensions(agents, tools, FailPoint.NONE);
  }
}
