package dev.parley.server;

import dev.parley.agent.ToolPolicy;
import dev.parley.external.a2a.A2aRemoteSettings;
import dev.parley.external.cli.CliSettings;
import dev.parley.external.proxy.ProxySettings;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// An agent type.
public record AgentConfig(
    AgentTypeId id,
    String name,
    @Nullable String description,
    String model,
    @Nullable String instructions,
    List<String> tools,
    List<String> taskTypes,
    ToolPolicy policy,
    AgentKind kind) {
  public AgentConfig {
    tools = List.copyOf(tools);
    taskTypes = List.copyOf(taskTypes);
  }

  /// Returns an agent with the model `default`, the default instructions, and these tools.
  public static AgentConfig of(String id, String description, String... tools) {
    return new AgentConfig(
        new AgentTypeId(id),
        id,
        description,
        ModelConfigReader.STANDARD,
        null,
        List.of(tools),
        List.of(),
        ToolPolicy.DEFAULT,
        new AgentKind.Llm());
  }

  /// Returns the agent with these instructions.
  public AgentConfig withInstructions(String newInstructions) {
    return new AgentConfig(
        id, name, description, model, newInstructions, tools, taskTypes, policy, kind);
  }

  /// Returns the agent with this policy for tool calls.
  public AgentConfig with(ToolPolicy newPolicy) {
    return new AgentConfig(
        id, name, description, model, instructions, tools, taskTypes, newPolicy, kind);
  }

  /// How an agent is implemented.
  public sealed interface AgentKind {

    /// Returns the name of this kind in the configuration.
    default String wire() {
      return switch (this) {
        case Llm _ -> "llm";
        case Cli _ -> "cli";
        case Proxy _ -> "proxy";
        case A2a _ -> "a2a";
        case Provided provided -> provided.type();
      };
    }

    /// A loop that calls a model and its tools.
    record Llm() implements AgentKind {}

    /// A command-line program.
    record Cli(CliSettings settings) implements AgentKind {}

    /// An agent of a remote service.
    record Proxy(ProxySettings settings) implements AgentKind {}

    /// A remote agent that supports the A2A protocol.
    record A2a(A2aRemoteSettings settings) implements AgentKind {}

    /// A kind of agent of the program that embeds the server, without settings of its own. The
    /// configuration selects it as `type`.
    record Provided(String type, Supplier<Agent> factory) implements AgentKind {}
  }
}
