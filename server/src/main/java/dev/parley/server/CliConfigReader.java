package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.agent.ToolPolicy;
import dev.parley.external.cli.CliProgram;
import dev.parley.external.cli.CliSettings;
import dev.parley.external.cli.LineMapping;
import dev.parley.external.cli.LineMapping.LineField;
import dev.parley.external.cli.LineMapping.LineType;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.MappingSection;
import dev.parley.tool.ShellTool;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
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
  List<AgentConfig> found() {
    return Stream.of(CliProgram.values())
        .filter(cliProgram -> cliProgram.find(surrounding).isPresent())
        .map(this::agent)
        .toList();
  }

  private AgentConfig agent(CliProgram cliProgram) {
    var settings =
        CliSettings.of(
            cliProgram, List.of(cliProgram.command()), environment(cliProgram, Map.of()));
    return new AgentConfig(
        new AgentTypeId(cliProgram.agentId()),
        cliProgram.title(),
        null,
        "",
        null,
        List.of(),
        List.of(),
        ToolPolicy.DEFAULT,
        new AgentKind.Cli(settings));
  }

  /// Reads the settings of a program. Null if they have errors.
  @Nullable AgentKind kind(AgentSection section, ToolPolicy toolPolicy, ConfigProblems problems) {
    for (var key : List.of("tools", "url")) {
      if (ConfigFile.keys(section).contains(key)) {
        problems.add(
            invalid(
                key,
                key
                    + (key.equals("tools") ? " are" : " is")
                    + " not allowed with type cli; the program has its own tools, and mcp"));
      }
    }
    var silence = or(section.silence(), CliSettings.SILENCE_TIMEOUT);
    if (silence.compareTo(SILENCE_MIN) < 0) {
      problems.add(invalid("silence", "must be at least 1s"));
    }
    var names = or(section.mcp(), List.<String>of());
    for (var i = 0; i < names.size(); i++) {
      McpConfigReader.checkName("mcp[" + i + "]", names.get(i), servers, problems);
    }
    var mapping = mapping(section.mapping(), problems.under("mapping"));
    var cli = section.cli();
    if (cli == null) {
      problems.add(invalid("", "type cli needs cli: claude, codex, gemini or jsonl"), "cli");
      return null;
    }
    var cliProgram = problems.collect(() -> ConfigProblem.choice("cli", cli, CliProgram.class));
    if (cliProgram == null) {
      return null;
    }
    check(cliProgram, section, problems);
    var command = or(section.command(), List.of(cliProgram.command()));
    if (command.isEmpty() || command.getFirst().isBlank()) {
      problems.add(invalid("command", "cli " + cli + " needs a command"));
      return null;
    }
    return new AgentKind.Cli(
        new CliSettings(
            cliProgram,
            command,
            or(section.args(), List.of()),
            section.model(),
            section.instructions(),
            or(section.allowedTools(), List.of()),
            or(section.disallowedTools(), List.of()),
            names.stream().flatMap(this::named).toList(),
            section.maxTurns(),
            environment(cliProgram, or(section.env(), Map.of())),
            mapping,
            or(section.resume(), List.of()),
            silence,
            toolPolicy));
  }

  /// Rejects settings that the program does not support.
  private static void check(CliProgram cliProgram, AgentSection section, ConfigProblems problems) {
    if (section.maxTurns() != null && (cliProgram != CliProgram.CLAUDE || section.maxTurns() < 1)) {
      problems.add(invalid("maxTurns", "must be at least 1, and needs cli claude"));
    }
    if (section.mcp() != null
        && cliProgram != CliProgram.CLAUDE
        && cliProgram != CliProgram.CODEX) {
      problems.add(invalid("mcp", "needs cli claude or codex"));
    }
    if (section.disallowedTools() != null && cliProgram != CliProgram.CLAUDE) {
      problems.add(invalid("disallowedTools", "needs cli claude"));
    }
    if (section.allowedTools() != null
        && cliProgram != CliProgram.CLAUDE
        && cliProgram != CliProgram.GEMINI) {
      problems.add(invalid("allowedTools", "needs cli claude or gemini"));
    }
    if (section.permissions() != null && cliProgram != CliProgram.CLAUDE) {
      problems.add(
          invalid(
              "permissions", "needs cli claude; the other programs have no rules. Use permission"));
    }
    for (var key : List.of("mapping", "resume")) {
      if (ConfigFile.keys(section).contains(key) && cliProgram != CliProgram.JSONL) {
        problems.add(invalid(key, "needs cli jsonl"));
      }
    }
    if (section.model() != null && cliProgram == CliProgram.JSONL) {
      problems.add(invalid("model", "is not allowed with cli jsonl; pass the model in args"));
    }
  }

  private Stream<McpServer> named(String name) {
    return servers.stream().filter(server -> server.name().equals(name));
  }

  private Map<String, String> environment(CliProgram cliProgram, Map<String, String> more) {
    var passed =
        surrounding.keySet().stream().filter(cliProgram::usesVariable).collect(Collectors.toSet());
    var environment = new HashMap<>(ShellTool.environment(surrounding, Set.copyOf(passed)));
    environment.putAll(more);
    return environment;
  }

  private static LineMapping mapping(@Nullable MappingSection section, ConfigProblems problems) {
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
    paths.entrySet().removeIf(path -> !isValid(path.getKey(), path.getValue(), problems));
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
    var mapping =
        problems.collectValid(
            "type",
            () -> new LineMapping(or(section.type(), LineMapping.DEFAULT.type()), types, paths));
    return mapping == null ? LineMapping.DEFAULT : mapping;
  }

  private static boolean isValid(LineField field, String path, ConfigProblems problems) {
    var words = field.name().toLowerCase(Locale.ROOT).split("_", -1);
    var key = new StringBuilder(words[0]);
    for (var i = 1; i < words.length; i++) {
      key.append(Character.toUpperCase(words[i].charAt(0))).append(words[i], 1, words[i].length());
    }
    return problems.collectValid(
            key.toString(),
            () -> new LineMapping(LineMapping.DEFAULT.type(), Map.of(), Map.of(field, path)))
        != null;
  }

  private static <K extends Enum<K>, V> void put(Map<K, V> map, K key, @Nullable V value) {
    if (value != null) {
      map.put(key, value);
    }
  }
}
