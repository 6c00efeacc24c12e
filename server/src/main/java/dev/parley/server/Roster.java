package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.agent.AgentTool;
import dev.parley.agent.Policy;
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

/// The agents and tools of a server by their names: those of its configuration, and those that a program
/// brings along.
final class Roster {

  /// What a tool is called that hands work to another agent: this and the agent's id.
  static final String AGENT = "agent:";

  /// What models take as the name of a tool.
  private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private final List<Config.Agent> agents;
  private final Extensions extensions;

  Roster(List<Config.Agent> agents, Extensions extensions) {
    this.agents = List.copyOf(agents);
    this.extensions = extensions;
  }

  /// Collects names that stand for two things, or for none.
  void check(ConfigProblems problems) {
    if (ids().isEmpty()) {
      problems.add(invalid("agents", "at least one is needed"));
    }
    var seen = new HashSet<AgentTypeId>();
    for (var id : ids()) {
      if (id.equals(Supervisor.ID)) {
        problems.add(invalid("agents." + id, "this id belongs to the supervisor"));
      }
      if (!seen.add(id)) {
        problems.add(invalid("agents." + id, "two are called " + id));
      }
    }
    var tools = new HashSet<String>();
    for (var tool : extensions.tools()) {
      if (!TOOL.matcher(tool.name()).matches()) {
        problems.add(invalid("tools." + tool.name(), "a name is 1 to 64 of A-Z a-z 0-9 _ -"));
      }
      if (BuiltInTools.isKnown(tool.name()) || !tools.add(tool.name())) {
        problems.add(invalid("tools", "two are called " + tool.name()));
      }
    }
    for (var agent : agents) {
      agent.tools().forEach(tool -> problems.check(() -> checkTool(agent, tool, tools)));
      if (agent.kind() instanceof Config.Kind.Llm) {
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

  /// A rule that fits none of the agent's tools is a typing error, and one in `deny` a dangerous one.
  private void checkRules(Config.Agent agent) {
    var names = toolNames(agent);
    for (var rule : agent.policy().rules()) {
      var name = Policy.toolOf(rule);
      if (names.stream().noneMatch(known -> Policy.couldFit(name, known))) {
        throw invalid(
            "agents." + agent.id() + ".permissions",
            rule + " fits none of its tools: " + String.join(", ", names));
      }
    }
  }

  /// What the model knows the agent's tools as; those of an MCP server by how they begin, with a `*`.
  List<String> toolNames(Config.Agent agent) {
    if (agent.kind() instanceof Config.Kind.Cli(var settings)) {
      return settings.toolNames();
    }
    if (agent.kind() instanceof Config.Kind.Proxy) {
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

  /// Everybody who can be asked, but for the supervisor.
  List<AgentTypeId> ids() {
    return Stream.concat(
            agents.stream().map(Config.Agent::id),
            extensions.agents().stream().map(agent -> agent.id()))
        .toList();
  }

  /// Who decides, if there is something to decide and nobody does yet.
  Config.@Nullable Supervisor supervisor(Config.@Nullable Supervisor given, String model) {
    return given == null && ids().size() > 1
        ? new Config.Supervisor(model, ids().getFirst())
        : given;
  }
}
