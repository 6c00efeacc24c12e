package dev.parley.cli;

import dev.parley.protocol.WireName;
import dev.parley.tool.process.ProgramPath;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The programs that are known.
public enum Program implements WireName {
  CLAUDE("claude-code", "Claude Code", "claude", Set.of("ANTHROPIC_", "CLAUDE_")),
  CODEX("codex", "Codex", "codex", Set.of("OPENAI_", "CODEX_")),
  GEMINI("gemini-cli", "Gemini CLI", "gemini", Set.of("GEMINI_", "GOOGLE_")),
  JSONL("jsonl", "JSON lines", "", Set.of());

  private final String agentId;
  private final String title;
  private final String command;

  @SuppressWarnings("ImmutableEnumChecker") // Made by Set.of.
  private final Set<String> prefixes;

  Program(String agentId, String title, String command, Set<String> prefixes) {
    this.agentId = agentId;
    this.title = title;
    this.command = command;
    this.prefixes = prefixes;
  }

  /// The id of the agent that it is when nobody has configured one.
  public String agentId() {
    return agentId;
  }

  /// What people call it.
  public String title() {
    return title;
  }

  /// Its file on the `PATH` of an environment; empty if there is none.
  public Optional<Path> find(Map<String, String> environment) {
    return ProgramPath.find(command, environment, Path.of("").toAbsolutePath());
  }

  /// What it is called on the `PATH`; empty for those that have no name of their own.
  public String command() {
    return command;
  }

  /// True if this setting of the server's environment is for the program: keys, addresses, folders.
  public boolean needs(String setting) {
    return prefixes.stream().anyMatch(setting::startsWith)
        // Set by a Claude Code around this server; it would take itself for a part of that one.
        && !setting.equals("CLAUDE_CODE_ENTRYPOINT")
        && !setting.startsWith("CLAUDE_CODE_SESSION");
  }

  @Override
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
