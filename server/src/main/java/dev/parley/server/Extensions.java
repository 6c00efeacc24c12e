package dev.parley.server;

import dev.parley.embed.CustomAgent;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.List;

/// What a program that embeds a server brings along: agents and tools of its own.
///
/// Tools can be named in `tools` of configured agents, and agents as `agent:ID`.
public record Extensions(List<CustomAgent> agents, List<Tool> tools, FailPoint failPoint) {

  /// Nothing.
  public static final Extensions NONE = new Extensions(List.of(), List.of(), FailPoint.NONE);

  public Extensions {
    agents = List.copyOf(agents);
    tools = List.copyOf(tools);
  }

  /// These, and one more agent.
  public Extensions with(CustomAgent agent) {
    var more = new ArrayList<>(agents);
    more.add(agent);
    return new Extensions(more, tools, failPoint);
  }

  /// These, and one more tool.
  public Extensions with(Tool tool) {
    var more = new ArrayList<>(tools);
    more.add(tool);
    return new Extensions(agents, more, failPoint);
  }

  /// The same, with places at which tests end the process.
  public Extensions with(FailPoint point) {
    return new Extensions(agents, tools, point);
  }
}
