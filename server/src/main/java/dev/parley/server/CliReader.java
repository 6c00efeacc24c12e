package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigReader.or;

import dev.parley.agent.Policy;
import dev.parley.cli.CliSettings;
import dev.parley.cli.Mapping;
import dev.parley.cli.Mapping.Meaning;
import dev.parley.cli.Mapping.Part;
import dev.parley.cli.Program;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.MappingSection;
import dev.parley.tool.Shell;
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
final class CliReader {

  private static final Duration SILENCE_MIN = Duration.ofSeconds(1);

  private final Map<String, String> surrounding;
  private final List<McpServer> servers;

  CliReader(Map<String, String> surrounding, List<McpServer> servers) {
    this.surrounding = surrounding;
    this.servers = servers;
  }

  /// Returns the programs on the `PATH` as agents that ask for approval before they act.
  List<Config.Agent> found() {
    return Stream.of(Program.values())
        .filter(program -> program.find(surrounding).isPresent())
        .map(this::agent)
        .toList();
  }

  private Config.Agent agent(Program program) {
    var settings =
        CliSettings.of(program, List.of(program.command()), environment(program, Map.of()));
    return new Config.Agent(
        new AgentTypeId(program.agentId()),
        program.title(),
        null,
        "",
        null,
        List.of(),
        List.of(),
        Policy.USUAL,
        new Config.Kind.Cli(settings));
  }

  /// Reads the settings of a program.
  Config.Kind.Cli kind(AgentSection section, Policy policy) {
    if (section.cli() == null) {
      throw invalid("cli", "type cli needs cli: claude, codex, gemini or jsonl");
    }
    if (section.tools() != null || section.url() != null) {
      throw invalid(
          section.tools() != null ? "tools" : "url",
          "tools and url are not allowed with type cli; the program has its own tools, and mcp");
    }
    var program = ConfigProblem.choice("cli", section.cli(), Program.class);
    var command = or(section.command(), List.of(program.command()));
    if (command.isEmpty() || command.getFirst().isBlank()) {
      throw invalid("command", "cli " + section.cli() + " needs a command");
    }
    var silence = or(section.silence(), CliSettings.SILENCE);
    if (silence.compareTo(SILENCE_MIN) < 0) {
      throw invalid("silence", "must be at least 1s");
    }
    check(program, section);
    return new Config.Kind.Cli(
        new CliSettings(
            program,
            command,
            or(section.args(), List.of()),
            section.model(),
            section.instructions(),
            or(section.allowedTools(), List.of()),
            or(section.disallowedTools(), List.of()),
            or(section.mcp(), List.<String>of()).stream().map(name -> server(name)).toList(),
            section.maxTurns(),
            environment(program, or(section.env(), Map.of())),
            mapping(section.mapping()),
            or(section.resume(), List.of()),
            silence,
            policy));
  }

  /// Rejects settings that the program does not support.
  private static void check(Program program, AgentSection section) {
    if (section.maxTurns() != null && (program != Program.CLAUDE || section.maxTurns() < 1)) {
      throw invalid("maxTurns", "must be at least 1, and needs cli claude");
    }
    if (section.mcp() != null && program != Program.CLAUDE && program != Program.CODEX) {
      throw invalid("mcp", "needs cli claude or codex");
    }
    if (section.disallowedTools() != null && program != Program.CLAUDE) {
      throw invalid("disallowedTools", "needs cli claude");
    }
    if (section.allowedTools() != null && program != Program.CLAUDE && program != Program.GEMINI) {
      throw invalid("allowedTools", "needs cli claude or gemini");
    }
    if (section.permissions() != null && program != Program.CLAUDE) {
      throw invalid(
          "permissions", "needs cli claude; the other programs have no rules. Use permission");
    }
    if ((section.mapping() != null || section.resume() != null) && program != Program.JSONL) {
      throw invalid(
          section.mapping() != null ? "mapping" : "resume", "mapping and resume need cli jsonl");
    }
    if (section.model() != null && program == Program.JSONL) {
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

  private Map<String, String> environment(Program program, Map<String, String> more) {
    var passed = surrounding.keySet().stream().filter(program::needs).collect(Collectors.toSet());
    var environment = new HashMap<>(Shell.environment(surrounding, Set.copyOf(passed)));
    environment.putAll(more);
    return environment;
  }

  private static Mapping mapping(@Nullable MappingSection section) {
    if (section == null) {
      return Mapping.USUAL;
    }
    var paths = new EnumMap<Part, String>(Part.class);
    put(paths, Part.TEXT, section.text());
    put(paths, Part.THOUGHT, section.thought());
    put(paths, Part.TOOL_ID, section.toolId());
    put(paths, Part.TOOL_NAME, section.toolName());
    put(paths, Part.TOOL_ARGUMENTS, section.toolArguments());
    put(paths, Part.TOOL_RESULT, section.toolResult());
    put(paths, Part.TOOL_ERROR, section.toolError());
    put(paths, Part.RESULT, section.result());
    put(paths, Part.ERROR, section.error());
    put(paths, Part.SESSION, section.session());
    put(paths, Part.MODEL, section.model());
    put(paths, Part.INPUT_TOKENS, section.inputTokens());
    put(paths, Part.OUTPUT_TOKENS, section.outputTokens());
    put(paths, Part.COST_USD, section.costUsd());
    var types = new EnumMap<Meaning, List<String>>(Meaning.class);
    var given = section.types();
    if (given != null) {
      put(types, Meaning.TEXT, given.text());
      put(types, Meaning.THOUGHT, given.thought());
      put(types, Meaning.TOOL_START, given.toolStart());
      put(types, Meaning.TOOL_END, given.toolEnd());
      put(types, Meaning.RESULT, given.result());
      put(types, Meaning.ERROR, given.error());
      put(types, Meaning.SESSION, given.session());
      put(types, Meaning.SKIP, given.skip());
    }
    return new Mapping(or(section.type(), Mapping.USUAL.type()), types, paths);
  }

  private static <K extends Enum<K>, V> void put(Map<K, V> map, K key, @Nullable V value) {
    if (value != null) {
      map.put(key, value);
    }
  }
}
