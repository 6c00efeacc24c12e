package dev.parley.server;

import dev.parley.embed.CustomAgent;
import dev.parley.log.FatalHandler;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.List;

/// Agents and tools of a program that embeds a server.
///
/// Configured agents can name these tools in `tools`, and these agents as `agent:ID`. `fatal` is
/// called when an essential thread has failed: the server then rejects everything that would write
/// to the log, and `/readyz` reports it.
public record Extensions(
    List<CustomAgent> agents, List<Tool> tools, FailPoint failPoint, FatalHandler fatal) {

  /// No extensions.
  public static final Extensions NONE =
      new Extensions(List.of(), List.of(), FailPoint.NONE, FatalHandler.NONE);

  public Extensions {
    agents = List.copyOf(agents);
    tools = List.copyOf(tools);
  }

  /// Returns these extensions and one more agent.
  public Extensions with(CustomAgent agent) {
    var more = new ArrayList<>(agents);
    more.add(agent);
    return new Extensions(more, tools, failPoint, fatal);
  }

  /// Returns these extensions and one more tool.
  public Extensions with(Tool tool) {
    var more = new ArrayList<>(tools);
    more.add(tool);
    return new Extensions(agents, more, failPoint, fatal);
  }

  /// Returns these extensions with points at which tests end the process.
  public Extensions with(FailPoint point) {
    return new Extensions(agents, tools, point, fatal);
  }

  /// Returns these extensions with a handler for fatal failures.
  public Extensions with(FatalHandler handler) {
    return new Extensions(agents, tools, failPoint, handler);
  }
}
