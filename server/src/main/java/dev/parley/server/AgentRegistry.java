package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.agent.AgentTool;
import dev.parley.agent.ToolPolicy;
import dev.parley.mcp.McpServers;
import dev.parley.protocol.AgentTypeId;
import dev.parley.supervisor.Supervisor;
import dev.parley.tool.BuiltInTools;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The agents and tools of a server by name: those of the configuration and those of the embedding
/// program.
final class AgentRegistry {

  /// The prefix of a tool name that delegates to an agent. The agent's id follows.
  static final String AGENT = "agent:";

  /// The tool names that models accept.
  private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private final List<Config.Agent> agents;
  private final Extensions extensions;

  AgentRegistry(List<Config.Agent> agents, Extensions extensions) {
    this.agents = List.copyOf(agents);
    this.extensions = extensions;
  }

  /// Collects names that are ambiguous or unknown.
  void check(ConfigProblems problems) {
    if (ids().isEmpty()) {
      problems.add(invalid("agents", "at least one is needed"));
    }
    var seen = new HashSet<AgentTypeId>();
    for (var id : ids()) {
      if (id.equals(Supervisor.ID)) {
        problems.add(invalid("agents." + id, "this id is reserved for the supervisor"));
      }
      if (!seen.add(id)) {
        problems.add(invalid("agents." + id, "two agents have the id " + id));
      }
    }
    var tools = new HashSet<String>();
    for (var tool : extensions.tools()) {
      if (!TOOL.matcher(tool.name()).matches()) {
        problems.add(invalid("tools." + tool.name(), "a name is 1 to 64 of A-Z a-z 0-9 _ -"));
      }
      if (BuiltInTools.isKnown(tool.name()) || !tools.add(tool.name())) {
        problems.add(invalid("tools", "two tools have the name " + tool.name()));
      }
    }
    for (var agent : agents) {
      agent.tools().forEach(tool -> problems.check(() -> checkTool(agent, tool, tools)));
      if (agent.kind() instanceof Config.AgentKind.Llm) {
        problems.check(() -> checkRules(agent));
      }
    }
  }

  private void checkTool(Config.Agent agent, String tool, Set<String> own) {
    if (tool.startsWith(AGENT)) {
      if (ids().stream().noneMatch(id -> tool.equals(AGENT + id))) {
        throw ConfigProblem.unknown(
            "agents." + agent.id() + ".tools",
            "agent for the tool",
            tool,
            ids().stream().map(id -> AGENT + id).toList());
      }
    } else if (!tool.startsWith(McpServers.PREFIX)
        && !BuiltInTools.isKnown(tool)
        && !own.contains(tool)) {
      var names = new ArrayList<>(BuiltInTools.GROUPS);
      names.addAll(own);
      names.add("mcp:NAME");
      names.add("agent:ID");
      throw ConfigProblem.unknown("agents." + agent.id() + ".tools", "tool", tool, names);
    }
  }

  /// Rejects rules that match none of the agent's tools: a typing error in `deny` would be
  /// dangerous.
  private void checkRules(Config.Agent agent) {
    var names = toolNames(agent);
    for (var rule : agent.policy().rules()) {
      var name = ToolPolicy.toolOf(rule);
      if (names.stream().noneMatch(known -> ToolPolicy.couldMatch(name, known))) {
        throw invalid(
            "agents." + agent.id() + ".permissions",
            rule + " matches none of its tools: " + String.join(", ", names));
      }
    }
  }

  /// Returns the tool names that the model sees. The tools of an MCP server are given by their
  /// prefix and a `*`.
  List<String> toolNames(Config.Agent agent) {
    if (agent.kind() instanceof Config.AgentKind.Cli(var settings)) {
      return settings.toolNames();
    }
    if (agent.kind() instanceof Config.AgentKind.Proxy) {
      return List.of("*"); // The service decides.
    }
    var names = new ArrayList<>(BuiltInTools.names(agent.tools()));
    for (var tool : agent.tools()) {
      if (tool.startsWith(AGENT)) {
        names.add(AgentTool.nameOf(new AgentTypeId(tool.substring(AGENT.length()))));
        names.add("subagents");
      } else if (tool.startsWith(McpServers.PREFIX)) {
        names.add(tool.substring(McpServers.PREFIX.length()) + "_*");
      } else if (extensions.tools().stream().anyMatch(own -> own.name().equals(tool))) {
        names.add(tool);
      }
    }
    return names.stream().distinct().toList();
  }

  /// Returns the ids of all agents except the supervisor.
  List<AgentTypeId> ids() {
    return Stream.concat(
            agents.stream().map(Config.Agent::id),
            extensions.agents().stream().map(agent -> agent.id()))
        .toList();
  }

  /// Returns the configured supervisor, or a default one if there are several agents.
  Config.@Nullable SupervisorConfig supervisor(
      Config.@Nullable SupervisorConfig given, String model) {
    return given == null && ids().size() > 1
        ? new Config.SupervisorConfig(model, ids().getFirst())
        : given;
  }
}
