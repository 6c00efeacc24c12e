package dev.parley.external.cli;

import dev.parley.protocol.WireName;
import dev.parley.tool.process.ProgramPath;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The supported programs.
public enum CliProgram implements WireName {
  CLAUDE("claude-code", "Claude Code", "claude", Set.of("ANTHROPIC_", "CLAUDE_")),
  CODEX("codex", "Codex", "codex", Set.of("OPENAI_", "CODEX_")),
  GEMINI("gemini-cli", "Gemini CLI", "gemini", Set.of("GEMINI_", "GOOGLE_")),
  JSONL("jsonl", "JSON lines", "", Set.of());

  private final String agentId;
  private final String title;
  private final String command;

  @SuppressWarnings("ImmutableEnumChecker") // Made by Set.of.
  private final Set<String> prefixes;

  CliProgram(String agentId, String title, String command, Set<String> prefixes) {
    this.agentId = agentId;
    this.title = title;
    this.command = command;
    this.prefixes = prefixes;
  }

  /// The id of the default agent for this program.
  public String agentId() {
    return agentId;
  }

  /// The display name.
  public String title() {
    return title;
  }

  /// The executable on the `PATH` of an environment; empty if there is none.
  public Optional<Path> find(Map<String, String> environment) {
    return ProgramPath.find(command, environment, Path.of("").toAbsolutePath());
  }

  /// The name of the executable; empty if the program has no fixed name.
  public String command() {
    return command;
  }

  /// True if this environment variable of the server is for the program: keys, addresses, folders.
  public boolean usesVariable(String setting) {
    return prefixes.stream().anyMatch(setting::startsWith)
        // Set by a Claude Code that runs this server: the new one would consider itself a part of
        // it.
        && !setting.equals("CLAUDE_CODE_ENTRYPOINT")
        && !setting.startsWith("CLAUDE_CODE_SESSION");
  }

  /// The files and folders in which the program keeps its settings, sign-ins and sessions, whether
  /// they exist or not.
  public List<Path> ownFiles(Map<String, String> environment) {
    var home = Path.of(environment.getOrDefault("HOME", "/"));
    return switch (this) {
      case CLAUDE ->
          List.of(
              folder(environment, "CLAUDE_CONFIG_DIR", home.resolve(".claude")),
              home.resolve(".claude.json"));
      case CODEX -> List.of(folder(environment, "CODEX_HOME", home.resolve(".codex")));
      case GEMINI -> List.of(home.resolve(".gemini"));
      case JSONL -> List.of();
    };
  }

  private static Path folder(Map<String, String> environment, String name, Path usual) {
    var given = environment.getOrDefault(name, "");
    return given.isEmpty() ? usual : Path.of(given);
  }

  @Override
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
