package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigProblem.unknown;
import static dev.parley.server.ConfigReader.or;

import dev.parley.agent.ToolPolicy;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.PermissionSection;
import dev.parley.server.ConfigFile.SupervisorSection;
import dev.parley.task.TaskType;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Tool.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads `agents` and `supervisor`.
final class AgentConfigReader {

  private static final Set<String> REMOTE_TYPES = Set.of("proxy", "a2a");

  private final Set<String> models;
  private final String standardModel;
  private final CliConfigReader programs;

  AgentConfigReader(Set<String> models, CliConfigReader programs) {
    this.models = models;
    this.programs = programs;
    this.standardModel =
        models.contains(ModelConfigReader.STANDARD)
            ? ModelConfigReader.STANDARD
            : models.iterator().next();
  }

  /// Reads the agents. Errors are collected.
  List<Config.Agent> agents(@Nullable List<AgentSection> sections, ConfigProblems problems) {
    if (sections == null || sections.isEmpty()) {
      return Stream.concat(
              DefaultAgents.standard(standardModel).stream(), programs.found().stream())
          .toList();
    }
    var agents = new ArrayList<Config.Agent>();
    for (var i = 0; i < sections.size(); i++) {
      var section = sections.get(i);
      var place = "agents[" + i + "]";
      var agent = problems.collect(() -> agent(place, section));
      if (agent != null) {
        agents.add(agent);
      }
    }
    return agents;
  }

  private Config.Agent agent(String place, AgentSection section) {
    if (section.id() == null) {
      throw invalid(section.name() == null ? place : "agents." + section.name(), "needs an id");
    }
    var where = "agents." + section.id();
    checkType(where, section);
    var type = or(section.type(), "llm");
    var llm = type.equals("llm");
    var model = llm ? or(section.model(), standardModel) : "";
    if (llm && !models.contains(model)) {
      throw unknown(where + ".model", "model", model, models);
    }
    try {
      for (var taskType : or(section.taskTypes(), List.<String>of())) {
        ConfigProblem.choice("taskTypes", taskType, TaskType.class);
      }
      var toolPolicy = policy(section.permission(), section.permissions());
      return new Config.Agent(
          new AgentTypeId(section.id()),
          or(section.name(), section.id()),
          section.description(),
          model,
          section.instructions(),
          llm ? or(section.tools(), BuiltInTools.GROUPS) : List.of(),
          or(section.taskTypes(), List.of()),
          toolPolicy,
          switch (type) {
            case "llm" -> new Config.AgentKind.Llm();
            case "proxy" -> ProxyConfigReader.kind(section);
            case "a2a" -> RemoteAgentConfigReader.kind(section);
            case "conformance" -> new Config.AgentKind.Conformance();
            default -> programs.kind(section, toolPolicy);
          });
    } catch (ConfigProblem problem) {
      throw problem.under(where);
    } catch (Rejection.Invalid misfit) {
      throw invalid(where, String.valueOf(misfit.getMessage()));
    }
  }

  private static void checkType(String where, AgentSection section) {
    var type = or(section.type(), "llm");
    if (section.hasA2aSettings() && !type.equals("a2a")) {
      throw invalid(where, "version, transport, headers, token and timeout need type a2a");
    }
    if (type.equals("cli") || REMOTE_TYPES.contains(type)) {
      return;
    }
    if (!type.equals("llm") && !type.equals("conformance")) {
      throw notOneOf(where + ".type", type, List.of("llm", "cli", "proxy", "a2a"));
    }
    if (section.cli() != null || section.command() != null || section.url() != null) {
      throw invalid(where, "cli, command and url are not allowed with type llm");
    }
    if (Stream.of(
            section.args(),
            section.allowedTools(),
            section.disallowedTools(),
            section.mcp(),
            section.maxTurns(),
            section.env(),
            section.mapping(),
            section.resume(),
            section.silence())
        .anyMatch(Objects::nonNull)) {
      throw invalid(
          where,
          "args, allowedTools, disallowedTools, mcp, maxTurns, env, mapping, resume and silence"
              + " need type cli");
    }
  }

  private static ToolPolicy policy(
      @Nullable String permission, @Nullable PermissionSection permissions) {
    var standard =
        permission == null
            ? null
            : ConfigProblem.choice("permission", permission, Permission.class);
    return permissions == null
        ? new ToolPolicy(standard, List.of(), List.of(), List.of())
        : new ToolPolicy(
            standard,
            or(permissions.allow(), List.of()),
            or(permissions.ask(), List.of()),
            or(permissions.deny(), List.of()));
  }

  /// Reads the supervisor. Null if none is configured and there is only one agent.
  Config.@Nullable SupervisorConfig supervisor(
      @Nullable SupervisorSection section, AgentRegistry agentRegistry) {
    if (section == null) {
      return agentRegistry.supervisor(null, standardModel);
    }
    var model = or(section.model(), standardModel);
    if (!models.contains(model)) {
      throw unknown("supervisor.model", "model", model, models);
    }
    var wanted = section.fallbackAgent();
    var fallback =
        wanted == null
            ? agentRegistry.ids().getFirst()
            : agentRegistry.ids().stream()
                .filter(id -> id.value().equals(wanted))
                .findFirst()
                .orElseThrow(
                    () ->
                        unknown(
                            "supervisor.fallbackAgent",
                            "agent",
                            wanted,
                            agentRegistry.ids().stream().map(AgentTypeId::value).toList()));
    return new Config.SupervisorConfig(model, fallback);
  }

  /// The default agents, for a configuration without `agents`.
  private static final class DefaultAgents {

    private record Role(String id, String name, String description, List<String> taskTypes) {}

    private static final List<Role> ROLES =
        List.of(
            new Role(
                "agent-code",
                "Code",
                "Writes, reads, reviews and debugs code and programs, and runs commands.",
                List.of(
                    "code_review",
                    "code_generate",
                    "code_refactor",
                    "code_debug",
                    "angular_project",
                    "angular_component",
                    "angular_feature",
                    "angular_service",
                    "angular_routing",
                    "angular_testing",
                    "angular_optimization")),
            new Role(
                "agent-research",
                "Research",
                "Finds things out: searches files and the web, compares sources, fetches pages.",
                List.of("research", "research_web", "research_docs")),
            new Role(
                "agent-data",
                "Data",
                "Analyses data: CSV files, tables, numbers, statistics, datasets.",
                List.of("data_analysis", "data_transform", "data_visualize")),
            new Role(
                "agent-writer",
                "Writer",
                "Writes texts: reports, articles, summaries, documentation.",
                List.of("content_write", "documentation")));

    static List<Config.Agent> standard(String model) {
      return ROLES.stream().map(role -> agent(role, model)).toList();
    }

    private static Config.Agent agent(Role role, String model) {
      var others =
          ROLES.stream()
              .map(Role::id)
              .filter(id -> !id.equals(role.id()))
              .map(id -> AgentRegistry.AGENT + id);
      return new Config.Agent(
          new AgentTypeId(role.id()),
          role.name(),
          role.description(),
          model,
          null,
          Stream.concat(BuiltInTools.GROUPS.stream(), others).toList(),
          role.taskTypes(),
          ToolPolicy.DEFAULT,
          new Config.AgentKind.Llm());
    }
  }
}
