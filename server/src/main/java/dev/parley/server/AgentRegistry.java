package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.agent.AgentTool;
import dev.parley.agent.ToolPolicy;
import dev.parley.mcp.McpServers;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.supervisor.Supervisor;
import dev.parley.tool.BuiltInTools;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
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

  private final List<AgentConfig> agents;
  private final Extensions extensions;

  AgentRegistry(List<AgentConfig> agents, Extensions extensions) {
    this.agents = List.copyOf(agents);
    this.extensions = extensions;
  }

  /// Collects names that are ambiguous or unknown.
  void check(ConfigProblems problems) {
    check(problems, agent -> problems.under("agents." + agent.id()));
  }

  /// Does the same with separate collections for the agents.
  void check(ConfigProblems problems, Function<AgentConfig, ConfigProblems> problemsOf) {
    if (ids().isEmpty()) {
      problems.add(invalid("agents", "at least one is needed"));
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
    var seen = new HashSet<AgentTypeId>();
    for (var agent : agents) {
      var own = problemsOf.apply(agent);
      checkId(agent.id(), seen, own);
      for (var i = 0; i < agent.tools().size(); i++) {
        checkTool("tools[" + i + "]", agent.tools().get(i), tools, own);
      }
      if (agent.kind() instanceof AgentKind.Llm) {
        checkRules(agent, tools, own);
      }
    }
    for (var agent : extensions.agents()) {
      checkId(agent.id(), seen, problems.under("agents." + agent.id()));
    }
  }

  private static void checkId(AgentTypeId id, Set<AgentTypeId> seen, ConfigProblems problems) {
    if (id.equals(Supervisor.ID)) {
      problems.add(invalid("id", "this id is reserved for the supervisor"));
    }
    if (!seen.add(id)) {
      problems.add(invalid("id", "two agents have the id " + id));
    }
  }

  private void checkTool(String path, String tool, Set<String> own, ConfigProblems problems) {
    if (tool.startsWith(AGENT)) {
      var known = ids().stream().map(id -> AGENT + id).toList();
      if (!known.contains(tool)) {
        problems.addReference(
            ConfigProblem.unknown(path, "agent for the tool", tool, known), "agents");
      }
    } else if (!isKnown(tool, own)) {
      var names = new ArrayList<>(BuiltInTools.GROUPS);
      names.addAll(own);
      names.add("mcp:NAME");
      names.add("agent:ID");
      problems.add(ConfigProblem.unknown(path, "tool", tool, names));
    }
  }

  private static boolean isKnown(String tool, Set<String> own) {
    return tool.startsWith(McpServers.PREFIX) || BuiltInTools.isKnown(tool) || own.contains(tool);
  }

  /// Collects rules that match none of the agent's tools: a typing error in `deny` would be
  /// dangerous.
  private void checkRules(AgentConfig agent, Set<String> own, ConfigProblems problems) {
    var names = new ArrayList<>(toolNames(agent));
    var complete =
        agent.tools().stream().allMatch(tool -> tool.startsWith(AGENT) || isKnown(tool, own));
    // A rule may be meant for a tool whose name has an error itself.
    var known = new ArrayList<>(names);
    if (!complete || problems.isUnread("tools")) {
      known.addAll(BuiltInTools.names(BuiltInTools.GROUPS));
      known.addAll(own);
    }
    var policy = agent.policy();
    checkRules("permissions.allow", policy.allow(), names, known, problems);
    checkRules("permissions.ask", policy.ask(), names, known, problems);
    checkRules("permissions.deny", policy.deny(), names, known, problems);
  }

  private static void checkRules(
      String path,
      List<String> rules,
      List<String> names,
      List<String> known,
      ConfigProblems problems) {
    for (var i = 0; i < rules.size(); i++) {
      var rule = rules.get(i);
      var name = ToolPolicy.toolOf(rule);
      if (known.stream().noneMatch(tool -> ToolPolicy.couldMatch(name, tool))) {
        var meant =
            NameSuggestions.to(name, known).stream()
                .map(tool -> tool + rule.substring(name.length()))
                .toList();
        problems.add(
            invalid(
                path + "[" + i + "]",
                rule
                    + " matches none of its tools"
                    + (names.isEmpty() ? "" : ": " + String.join(", ", names))
                    + (meant.isEmpty()
                        ? ""
                        : ". Did you mean " + String.join(" or ", meant) + "?")));
      }
    }
  }

  /// Returns the tool names that the model sees. The tools of an MCP server are given by their
  /// prefix and a `*`.
  List<String> toolNames(AgentConfig agent) {
    if (agent.kind() instanceof AgentKind.Cli(var settings)) {
      return settings.toolNames();
    }
    if (agent.kind() instanceof AgentKind.Proxy) {
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
            agents.stream().map(AgentConfig::id),
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
