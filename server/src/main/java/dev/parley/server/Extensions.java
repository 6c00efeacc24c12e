package dev.parley.server;

import dev.parley.embed.CustomAgent;
import dev.parley.log.FatalHandler;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.List;

/// What a program that embeds a server brings along: agents and tools of its own.
///
/// Tools can be named in `tools` of configured agents, and agents as `agent:ID`. `fatal` is called when a
/// thread has failed that the server cannot do without: the server then refuses whatever would write to
/// the log, and `/readyz` says so.
public record Extensions(
    List<CustomAgent> agents, List<Tool> tools, FailPoint failPoint, FatalHandler fatal) {

  /// Nothing.
  public static final Extensions NONE =
      new Extensions(List.of(), List.of(), FailPoint.NONE, FatalHandler.NONE);

  public Extensions {
    agents = List.copyOf(agents);
    tools = List.copyOf(tools);
  }

  /// These, and one more agent.
  public Extensions with(CustomAgent agent) {
    var more = new ArrayList<>(agents);
    more.add(agent);
    return new Extensions(more, tools, failPoint, fatal);
  }

  /// These, and one more tool.
  public Extensions with(Tool tool) {
    var more = new ArrayList<>(tools);
    more.add(tool);
    return new Extensions(agents, more, failPoint, fatal);
  }

  /// The same, with places at which tests end the process.
  public Extensions with(FailPoint point) {
    return new Extensions(agents, tools, point, fatal);
  }

  /// The same, with what to do when the server cannot go on.
  public Extensions with(FatalHandler handler) {
    return new Extensions(agents, tools, failPoint, handler);
  }
}
