package dev.parley.server;

import dev.parley.api.ApiModule;
import dev.parley.embed.CustomAgent;
import dev.parley.log.FatalHandler;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.task.FailPoint;
import dev.parley.tool.Tool;
import java.util.List;
import java.util.stream.Stream;

/// What a program adds to a server: agents and tools, and modules with APIs, models and kinds of
/// agent.
///
/// Configured agents can name these tools in `tools`, and these agents as `agent:ID`. The
/// configuration can name these models as `provider` and these kinds of agent as `type`. The first
/// of `models` is the default model if the configuration and the environment name none. `fatal` is
/// called when an essential thread has failed: the server then rejects everything that would write
/// to the log, and `/readyz` reports it.
public record Extensions(
    List<CustomAgent> agents,
    List<Tool> tools,
    List<ApiModule> apis,
    List<ModelConfig.Provided> models,
    List<AgentKind.Provided> agentKinds,
    FailPoint failPoint,
    FatalHandler fatal) {

  /// No extensions.
  public static final Extensions NONE =
      new Extensions(
          List.of(), List.of(), List.of(), List.of(), List.of(), FailPoint.NONE, FatalHandler.NONE);

  public Extensions {
    agents = List.copyOf(agents);
    tools = List.copyOf(tools);
    apis = List.copyOf(apis);
    models = List.copyOf(models);
    agentKinds = List.copyOf(agentKinds);
  }

  /// Returns these extensions and one more agent.
  public Extensions with(CustomAgent agent) {
    return new Extensions(added(agents, agent), tools, apis, models, agentKinds, failPoint, fatal);
  }

  /// Returns these extensions and one more tool.
  public Extensions with(Tool tool) {
    return new Extensions(agents, added(tools, tool), apis, models, agentKinds, failPoint, fatal);
  }

  /// Returns these extensions and one more API.
  public Extensions withApi(ApiModule api) {
    return new Extensions(agents, tools, added(apis, api), models, agentKinds, failPoint, fatal);
  }

  /// Returns these extensions and one more model.
  public Extensions with(ModelConfig.Provided model) {
    return new Extensions(agents, tools, apis, added(models, model), agentKinds, failPoint, fatal);
  }

  /// Returns these extensions and one more kind of agent.
  public Extensions with(AgentKind.Provided kind) {
    return new Extensions(agents, tools, apis, models, added(agentKinds, kind), failPoint, fatal);
  }

  /// Returns these extensions with points at which tests end the process.
  public Extensions with(FailPoint point) {
    return new Extensions(agents, tools, apis, models, agentKinds, point, fatal);
  }

  /// Returns these extensions with a handler for fatal failures.
  public Extensions with(FatalHandler handler) {
    return new Extensions(agents, tools, apis, models, agentKinds, failPoint, handler);
  }

  private static <T> List<T> added(List<T> list, T one) {
    return Stream.concat(list.stream(), Stream.of(one)).toList();
  }
}
