package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.invalidKey;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigProblem.unknown;

import dev.parley.agent.ToolPolicy;
import dev.parley.api.ApiModule;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.PermissionSection;
import dev.parley.server.ConfigFile.SupervisorSection;
import dev.parley.task.TaskType;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Tool.Permission;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads `agents` and `supervisor`.
final class AgentConfigReader {

  /// Replaces the kind of an agent whose settings have errors.
  private static final AgentKind INVALID =
      new AgentKind.Provided(
          "",
          () -> {
            throw new IllegalStateException("the configuration has errors");
          });

  private static final Set<String> A2A_KEYS =
      Set.of("version", "transport", "headers", "token", "timeout");

  /// The keys that only programs have, except `silence`, which remote agents have too.
  private static final Set<String> CLI_KEYS =
      Set.of(
          "cli",
          "command",
          "args",
          "allowedTools",
          "disallowedTools",
          "mcp",
          "maxTurns",
          "env",
          "mapping",
          "resume");

  /// The keys that an agent with a model has, and a remote agent has not.
  private static final Set<String> MODEL_KEYS =
      Set.of("model", "instructions", "tools", "permission", "permissions", "isolation");

  /// The id of an agent that has none, while its other settings are checked.
  private static final AgentTypeId PLACEHOLDER = new AgentTypeId("agent");

  private final Set<String> models;
  private final String standardModel;
  private final CliConfigReader programs;
  private final Extensions extensions;
  private final IdentityHashMap<AgentConfig, ConfigProblems> problemsOfAgents =
      new IdentityHashMap<>();

  AgentConfigReader(Set<String> models, CliConfigReader programs, Extensions extensions) {
    this.models = models;
    this.extensions = extensions;
    this.programs = programs;
    this.standardModel =
        models.contains(ModelConfigReader.STANDARD)
            ? ModelConfigReader.STANDARD
            : models.iterator().next();
  }

  /// Reads the agents. Errors are collected; an agent without a valid id is left out.
  List<AgentConfig> agents(@Nullable List<AgentSection> sections, ConfigProblems problems) {
    if (sections == null || sections.isEmpty()) {
      var standard =
          Stream.concat(
                  DefaultAgents.standard(standardModel, extensions.apis()).stream(),
                  programs.found().stream())
              .toList();
      standard.forEach(
          agent -> problemsOfAgents.put(agent, problems.under("agents." + agent.id())));
      return standard;
    }
    var agents = new ArrayList<AgentConfig>();
    for (var i = 0; i < sections.size(); i++) {
      var section = sections.get(i);
      var index = "[" + i + "]";
      var name = or(section.id(), or(section.name(), index));
      var own = problems.under(ConfigTree.join("agents", name), "agents" + index);
      var id = id(section, own);
      if (id == null) {
        // Other sections may refer to it.
        problems.markUnread("agents");
      }
      var agent = agent(id == null ? PLACEHOLDER : id, section, own);
      if (id != null) {
        agents.add(agent);
        problemsOfAgents.put(agent, own);
      }
    }
    return agents;
  }

  /// Returns the problems of an agent that was read.
  ConfigProblems problemsOf(AgentConfig agent) {
    return Objects.requireNonNull(problemsOfAgents.get(agent));
  }

  private static @Nullable AgentTypeId id(AgentSection section, ConfigProblems problems) {
    var id = section.id();
    if (id == null) {
      problems.add(invalid("", "needs an id"), "id");
      return null;
    }
    return problems.collectValid("id", () -> new AgentTypeId(id));
  }

  private AgentConfig agent(AgentTypeId id, AgentSection section, ConfigProblems problems) {
    var type = or(section.type(), "llm");
    var llm = type.equals("llm");
    var model = llm ? or(section.model(), standardModel) : "";
    if (llm && !models.contains(model)) {
      problems.addReference(unknown("model", "model", model, models), "models");
    }
    var taskTypes = or(section.taskTypes(), List.<String>of());
    for (var i = 0; i < taskTypes.size(); i++) {
      var taskType = taskTypes.get(i);
      problems.collectValid("taskTypes[" + i + "]", () -> new TaskType(taskType));
    }
    var permission = section.permission();
    var standard =
        permission == null
            ? null
            : problems.collect(
                () -> ConfigProblem.choice("permission", permission, Permission.class));
    var toolPolicy = policy(standard, section.permissions());
    return new AgentConfig(
        id,
        or(section.name(), id.value()),
        section.description(),
        model,
        section.instructions(),
        llm ? or(section.tools(), BuiltInTools.GROUPS) : List.of(),
        taskTypes,
        toolPolicy,
        or(problems.isUnread("type") ? null : kind(type, section, toolPolicy, problems), INVALID));
  }

  private @Nullable AgentKind kind(
      String type, AgentSection section, ToolPolicy toolPolicy, ConfigProblems problems) {
    var keys = ConfigFile.keys(section);
    if (!type.equals("a2a")) {
      reject(keys, A2A_KEYS, "needs type a2a", problems);
    }
    return switch (type) {
      case "llm" -> {
        rejectRemote(keys, problems);
        yield new AgentKind.Llm();
      }
      case "proxy" -> {
        rejectLocal(keys, "is not allowed with type proxy; configure it at the service", problems);
        yield RemoteAgentConfigReader.proxy(section, problems);
      }
      case "a2a" -> {
        rejectLocal(keys, "is not allowed with type a2a; configure it at the agent", problems);
        yield RemoteAgentConfigReader.a2a(section, problems);
      }
      case "cli" -> programs.kind(section, toolPolicy, problems);
      default -> {
        var named =
            extensions.agentKinds().stream().filter(kind -> kind.type().equals(type)).findFirst();
        if (named.isPresent()) {
          rejectRemote(keys, problems);
          yield named.get();
        }
        problems.add(notOneOf("type", type, List.of("llm", "cli", "proxy", "a2a")));
        yield null;
      }
    };
  }

  private static void rejectRemote(Set<String> keys, ConfigProblems problems) {
    reject(keys, CLI_KEYS, "needs type cli", problems);
    reject(keys, Set.of("silence"), "needs type cli, proxy or a2a", problems);
    reject(keys, Set.of("url"), "needs type proxy or a2a", problems);
  }

  private static void rejectLocal(Set<String> keys, String reason, ConfigProblems problems) {
    reject(keys, CLI_KEYS, reason, problems);
    reject(keys, MODEL_KEYS, reason, problems);
  }

  private static void reject(
      Set<String> keys, Set<String> unsupported, String reason, ConfigProblems problems) {
    keys.stream()
        .filter(unsupported::contains)
        .forEach(key -> problems.add(invalidKey(key, reason)));
  }

  private static ToolPolicy policy(
      @Nullable Permission standard, @Nullable PermissionSection permissions) {
    return permissions == null
        ? new ToolPolicy(standard, List.of(), List.of(), List.of())
        : new ToolPolicy(
            standard,
            or(permissions.allow(), List.of()),
            or(permissions.ask(), List.of()),
            or(permissions.deny(), List.of()));
  }

  /// Reads the supervisor. Null if none is configured and there is only one agent, or if there is
  /// no agent.
  Config.@Nullable SupervisorConfig supervisor(
      @Nullable SupervisorSection section, AgentRegistry agentRegistry, ConfigProblems problems) {
    if (section == null) {
      return agentRegistry.supervisor(null, standardModel);
    }
    var model = or(section.model(), standardModel);
    if (!models.contains(model)) {
      problems.addReference(unknown("supervisor.model", "model", model, models), "models");
    }
    var ids = agentRegistry.ids();
    var wanted = section.fallbackAgent();
    var fallback =
        ids.stream().filter(id -> wanted == null || id.value().equals(wanted)).findFirst();
    if (wanted != null && fallback.isEmpty()) {
      problems.addReference(
          unknown(
              "supervisor.fallbackAgent",
              "agent",
              wanted,
              ids.stream().map(AgentTypeId::value).toList()),
          "agents");
    }
    return fallback.map(id -> new Config.SupervisorConfig(model, id)).orElse(null);
  }

  /// The default agents, for a configuration without `agents`.
  private static final class DefaultAgents {

    private record Role(String id, String name, String description, List<TaskType> taskTypes) {}

    private static final List<Role> ROLES =
        List.of(
            new Role(
                "agent-code",
                "Code",
                "Writes, reads, reviews and debugs code and programs, and runs commands.",
                List.of(
                    TaskType.CODE_REVIEW,
                    TaskType.CODE_GENERATE,
                    TaskType.CODE_REFACTOR,
                    TaskType.CODE_DEBUG)),
            new Role(
                "agent-research",
                "Research",
                "Finds things out: searches files and the web, compares sources, fetches pages.",
                List.of(TaskType.RESEARCH, TaskType.RESEARCH_WEB, TaskType.RESEARCH_DOCS)),
            new Role(
                "agent-data",
                "Data",
                "Analyses data: CSV files, tables, numbers, statistics, datasets.",
                List.of(TaskType.DATA_ANALYSIS, TaskType.DATA_TRANSFORM, TaskType.DATA_VISUALIZE)),
            new Role(
                "agent-writer",
                "Writer",
                "Writes texts: reports, articles, summaries, documentation.",
                List.of(TaskType.CONTENT_WRITE, TaskType.DOCUMENTATION)));

    static List<AgentConfig> standard(String model, List<ApiModule> apis) {
      return ROLES.stream().map(role -> agent(role, model, apis)).toList();
    }

    private static AgentConfig agent(Role role, String model, List<ApiModule> apis) {
      var others =
          ROLES.stream()
              .map(Role::id)
              .filter(id -> !id.equals(role.id()))
              .map(id -> AgentRegistry.AGENT + id);
      return new AgentConfig(
          new AgentTypeId(role.id()),
          role.name(),
          role.description(),
          model,
          null,
          Stream.concat(BuiltInTools.GROUPS.stream(), others).toList(),
          Stream.concat(
                  role.taskTypes().stream(),
                  apis.stream().flatMap(api -> api.taskTypes(role.id()).stream()))
              .map(TaskType::value)
              .toList(),
          ToolPolicy.DEFAULT,
          new AgentKind.Llm());
    }
  }
}
