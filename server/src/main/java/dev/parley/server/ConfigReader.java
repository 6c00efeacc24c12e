package dev.parley.server;

import static dev.parley.server.ConfigYaml.invalid;

import dev.parley.door.Limits;
import dev.parley.door.Settings;
import dev.parley.door.Tokens.Token;
import dev.parley.mcp.McpServers;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.AuthSection;
import dev.parley.server.ConfigFile.LimitSection;
import dev.parley.tool.BuiltInTools;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes a [Config] of what is written and of what is not.
final class ConfigReader {

  private static final String HOST = "127.0.0.1";
  private static final int PORT = 7070;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);
  private static final List<String> STANDARD_TOOLS =
      List.of("files", "calculator", "clock", "artifacts");
  private static final Set<String> AGENT_TYPES = Set.of("cli", "a2a", "proxy");
  private static final String LATER = " is not available in this version of Parley yet";

  private final Config.Surroundings surroundings;

  ConfigReader(Config.Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  Config read(@Nullable Path path) {
    try {
      return understood(path);
    } catch (Rejection.Invalid wrong) {
      var message = String.valueOf(wrong.getMessage());
      throw path == null || message.startsWith(path.toString())
          ? wrong
          : invalid(path + ": " + message);
    }
  }

  private Config understood(@Nullable Path path) {
    var file =
        path == null ? ConfigFile.EMPTY : new ConfigYaml(surroundings.environment()).read(path);
    var models = new ModelReader(surroundings.environment()).read(file.models());
    var servers = new McpConfig(surroundings).read(or(file.mcpServers(), Map.of()));
    var agents = agents(file, models.keySet());
    agents.forEach(agent -> McpConfig.check(agent, servers));
    return new Config(
        settings(file),
        false,
        surroundings.home().resolve(".parley"),
        models,
        agents,
        standardAgent(file, agents, models.keySet()),
        workspaces(file),
        work(file.limits()),
        file.retention() == null || file.retention().idleContexts() == null
            ? Duration.ZERO
            : file.retention().idleContexts(),
        servers);
  }

  private static Settings settings(ConfigFile file) {
    var limits = Limits.USUAL;
    if (file.limits() != null && file.limits().maxStreams() != null) {
      var streams = positive("limits.maxStreams", file.limits().maxStreams());
      limits = new Limits(limits.bodyBytes(), streams, limits.stall(), limits.bodyTime());
    }
    return new Settings(
        HOST,
        PORT,
        Set.copyOf(or(file.allowedHosts(), List.of())),
        Set.copyOf(or(file.allowedOrigins(), List.of())),
        tokens(file.auth()),
        or(file.heartbeat(), HEARTBEAT),
        limits);
  }

  private static List<Token> tokens(@Nullable AuthSection auth) {
    if (auth == null || auth.tokens() == null) {
      return List.of();
    }
    if (auth.tokens().isEmpty()) {
      throw invalid("auth.tokens: at least one token is needed, or no auth at all");
    }
    try {
      return auth.tokens().stream()
          .map(token -> new Token(or(token.name(), ""), or(token.sha256(), "")))
          .toList();
    } catch (Rejection.Invalid misfit) {
      throw invalid("auth.tokens: " + misfit.getMessage());
    }
  }

  private static List<Config.Agent> agents(ConfigFile file, Set<String> models) {
    var standardModel =
        models.contains(ModelReader.STANDARD) ? ModelReader.STANDARD : models.iterator().next();
    if (file.agents() == null || file.agents().isEmpty()) {
      return List.of(
          new Config.Agent(
              new AgentTypeId("assistant"),
              "Assistant",
              "Answers, thinks, reads files and writes artifacts",
              standardModel,
              null,
              STANDARD_TOOLS,
              List.of()));
    }
    var ids = new HashSet<AgentTypeId>();
    return file.agents().stream()
        .map(
            section -> {
              var agent = agent(section, standardModel);
              if (!ids.add(agent.id())) {
                throw invalid("agents: two are called " + agent.id());
              }
              if (!models.contains(agent.model())) {
                throw invalid("agents." + agent.id() + ": there is no model " + agent.model());
              }
              return agent;
            })
        .toList();
  }

  private static Config.Agent agent(AgentSection section, String standardModel) {
    if (section.id() == null) {
      throw invalid("agents: each needs an id");
    }
    var where = "agents." + section.id();
    var type = or(section.type(), "llm");
    if (AGENT_TYPES.contains(type)) {
      throw invalid(where + ": type " + type + LATER + "; llm is");
    }
    if (!type.equals("llm")) {
      throw invalid(where + ": type must be llm");
    }
    if (section.cli() != null
        || section.command() != null
        || section.permission() != null
        || section.url() != null) {
      throw invalid(where + ": cli, command, permission and url do not go with type llm");
    }
    for (var tool : or(section.tools(), List.<String>of())) {
      if (tool.startsWith("agent:")) {
        throw invalid(where + ": tool " + tool + LATER);
      }
      if (!tool.startsWith(McpServers.PREFIX) && !BuiltInTools.isKnown(tool)) {
        var known = String.join(", ", BuiltInTools.GROUPS);
        throw invalid(where + ": there is no tool " + tool + "; known: " + known);
      }
    }
    try {
      return new Config.Agent(
          new AgentTypeId(section.id()),
          or(section.name(), section.id()),
          section.description(),
          or(section.model(), standardModel),
          section.instructions(),
          or(section.tools(), STANDARD_TOOLS),
          or(section.taskTypes(), List.of()));
    } catch (Rejection.Invalid misfit) {
      throw invalid(where + ": " + misfit.getMessage());
    }
  }

  private static AgentTypeId standardAgent(
      ConfigFile file, List<Config.Agent> agents, Set<String> models) {
    var supervisor = file.supervisor();
    if (supervisor == null) {
      return agents.getFirst().id();
    }
    if (supervisor.model() != null && !models.contains(supervisor.model())) {
      throw invalid("supervisor: there is no model " + supervisor.model());
    }
    var wanted = or(supervisor.fallbackAgent(), agents.getFirst().id().value());
    return agents.stream()
        .map(Config.Agent::id)
        .filter(id -> id.value().equals(wanted))
        .findFirst()
        .orElseThrow(() -> invalid("supervisor.fallbackAgent: there is no agent " + wanted));
  }

  private List<Path> workspaces(ConfigFile file) {
    var folders = or(file.workspaces(), List.<String>of());
    return folders.isEmpty()
        ? List.of(surroundings.folder())
        : folders.stream().map(surroundings.folder()::resolve).map(Path::normalize).toList();
  }

  private static Config.Work work(@Nullable LimitSection limits) {
    if (limits == null) {
      return new Config.Work(null, null, null, null, null);
    }
    return new Config.Work(
        timeout(limits.taskTimeout()),
        checked("limits.maxTurns", limits.maxTurns()),
        checked("limits.maxDepth", limits.maxDepth()),
        checked("limits.maxConcurrentTasks", limits.maxConcurrentTasks()),
        checked("limits.maxQueuedPerContext", limits.maxQueuedPerContext()));
  }

  private static @Nullable Duration timeout(@Nullable Duration timeout) {
    if (timeout != null
        && (timeout.toMillis() < 1 || timeout.compareTo(dev.parley.task.Limits.TIMEOUT_MAX) > 0)) {
      throw invalid("limits.taskTimeout must be between 1ms and 24h");
    }
    return timeout;
  }

  private static @Nullable Integer checked(String name, @Nullable Integer number) {
    return number == null ? null : positive(name, number);
  }

  private static int positive(String name, int number) {
    if (number < 1) {
      throw invalid(name + " must be at least 1");
    }
    return number;
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
