package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigReader.or;

import dev.parley.agent.ToolPolicy;
import dev.parley.external.cli.CliProgram;
import dev.parley.external.cli.CliSettings;
import dev.parley.external.cli.LineMapping;
import dev.parley.external.cli.LineMapping.LineField;
import dev.parley.external.cli.LineMapping.LineType;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.MappingSection;
import dev.parley.tool.ShellTool;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads agents of type `cli`, and finds installed programs that need no configuration.
final class CliConfigReader {

  private static final Duration SILENCE_MIN = Duration.ofSeconds(1);

  private final Map<String, String> surrounding;
  private final List<McpServer> servers;

  CliConfigReader(Map<String, String> surrounding, List<McpServer> servers) {
    this.surrounding = surrounding;
    this.servers = servers;
  }

  /// Returns the programs on the `PATH` as agents that ask for approval before they act.
  List<Config.Agent> found() {
    return Stream.of(CliProgram.values())
        .filter(cliProgram -> cliProgram.find(surrounding).isPresent())
        .map(this::agent)
        .toList();
  }

  private Config.Agent agent(CliProgram cliProgram) {
    var settings =
        CliSettings.of(
            cliProgram, List.of(cliProgram.command()), environment(cliProgram, Map.of()));
    return new Config.Agent(
        new AgentTypeId(cliProgram.agentId()),
        cliProgram.title(),
        null,
        "",
        null,
        List.of(),
        List.of(),
        ToolPolicy.DEFAULT,
        new Config.AgentKind.Cli(settings));
  }

  /// Reads the settings of a program.
  Config.AgentKind.Cli kind(AgentSection section, ToolPolicy toolPolicy) {
    if (section.cli() == null) {
      throw invalid("cli", "type cli needs cli: claude, codex, gemini or jsonl");
    }
    if (section.tools() != null || section.url() != null) {
      throw invalid(
          section.tools() != null ? "tools" : "url",
          "tools and url are not allowed with type cli; the program has its own tools, and mcp");
    }
    var cliProgram = ConfigProblem.choice("cli", section.cli(), CliProgram.class);
    var command = or(section.command(), List.of(cliProgram.command()));
    if (command.isEmpty() || command.getFirst().isBlank()) {
      throw invalid("command", "cli " + section.cli() + " needs a command");
    }
    var silence = or(section.silence(), CliSettings.SILENCE_TIMEOUT);
    if (silence.compareTo(SILENCE_MIN) < 0) {
      throw invalid("silence", "must be at least 1s");
    }
    check(cliProgram, section);
    return new Config.AgentKind.Cli(
        new CliSettings(
            cliProgram,
            command,
            or(section.args(), List.of()),
            section.model(),
            section.instructions(),
            or(section.allowedTools(), List.of()),
            or(section.disallowedTools(), List.of()),
            or(section.mcp(), List.<String>of()).stream().map(name -> server(name)).toList(),
            section.maxTurns(),
            environment(cliProgram, or(section.env(), Map.of())),
            mapping(section.mapping()),
            or(section.resume(), List.of()),
            silence,
            toolPolicy));
  }

  /// Rejects settings that the program does not support.
  private static void check(CliProgram cliProgram, AgentSection section) {
    if (section.maxTurns() != null && (cliProgram != CliProgram.CLAUDE || section.maxTurns() < 1)) {
      throw invalid("maxTurns", "must be at least 1, and needs cli claude");
    }
    if (section.mcp() != null
        && cliProgram != CliProgram.CLAUDE
        && cliProgram != CliProgram.CODEX) {
      throw invalid("mcp", "needs cli claude or codex");
    }
    if (section.disallowedTools() != null && cliProgram != CliProgram.CLAUDE) {
      throw invalid("disallowedTools", "needs cli claude");
    }
    if (section.allowedTools() != null
        && cliProgram != CliProgram.CLAUDE
        && cliProgram != CliProgram.GEMINI) {
      throw invalid("allowedTools", "needs cli claude or gemini");
    }
    if (section.permissions() != null && cliProgram != CliProgram.CLAUDE) {
      throw invalid(
          "permissions", "needs cli claude; the other programs have no rules. Use permission");
    }
    if ((section.mapping() != null || section.resume() != null) && cliProgram != CliProgram.JSONL) {
      throw invalid(
          section.mapping() != null ? "mapping" : "resume", "mapping and resume need cli jsonl");
    }
    if (section.model() != null && cliProgram == CliProgram.JSONL) {
      throw invalid("model", "is not allowed with cli jsonl; pass the model in args");
    }
  }

  private McpServer server(String name) {
    return servers.stream()
        .filter(server -> server.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                ConfigProblem.unknown(
                    "mcp", "MCP server", name, servers.stream().map(McpServer::name).toList()));
  }

  private Map<String, String> environment(CliProgram cliProgram, Map<String, String> more) {
    var passed =
        surrounding.keySet().stream().filter(cliProgram::usesVariable).collect(Collectors.toSet());
    var environment = new HashMap<>(ShellTool.environment(surrounding, Set.copyOf(passed)));
    environment.putAll(more);
    return environment;
  }

  private static LineMapping mapping(@Nullable MappingSection section) {
    if (section == null) {
      return LineMapping.DEFAULT;
    }
    var paths = new EnumMap<LineField, String>(LineField.class);
    put(paths, LineField.TEXT, section.text());
    put(paths, LineField.THOUGHT, section.thought());
    put(paths, LineField.TOOL_ID, section.toolId());
    put(paths, LineField.TOOL_NAME, section.toolName());
    put(paths, LineField.TOOL_ARGUMENTS, section.toolArguments());
    put(paths, LineField.TOOL_RESULT, section.toolResult());
    put(paths, LineField.TOOL_ERROR, section.toolError());
    put(paths, LineField.RESULT, section.result());
    put(paths, LineField.ERROR, section.error());
    put(paths, LineField.SESSION, section.session());
    put(paths, LineField.MODEL, section.model());
    put(paths, LineField.INPUT_TOKENS, section.inputTokens());
    put(paths, LineField.OUTPUT_TOKENS, section.outputTokens());
    put(paths, LineField.COST_USD, section.costUsd());
    var types = new EnumMap<LineType, List<String>>(LineType.class);
    var given = section.types();
    if (given != null) {
      put(types, LineType.TEXT, given.text());
      put(types, LineType.THOUGHT, given.thought());
      put(types, LineType.TOOL_START, given.toolStart());
      put(types, LineType.TOOL_END, given.toolEnd());
      put(types, LineType.RESULT, given.result());
      put(types, LineType.ERROR, given.error());
      put(types, LineType.SESSION, given.session());
      put(types, LineType.SKIP, given.skip());
    }
    return new LineMapping(or(section.type(), LineMapping.DEFAULT.type()), types, paths);
  }

  private static <K extends Enum<K>, V> void put(Map<K, V> map, K key, @Nullable V value) {
    if (value != null) {
      map.put(key, value);
    }
  }
}
