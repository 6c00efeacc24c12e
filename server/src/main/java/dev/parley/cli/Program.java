package dev.parley.cli;

import dev.parley.protocol.WireName;
import java.util.Locale;
import java.util.Set;

/// The programs that are known.
public enum Program implements WireName {
  CLAUDE("claude", Set.of("ANTHROPIC_", "CLAUDE_")),
  CODEX("codex", Set.of("OPENAI_", "CODEX_")),
  GEMINI("gemini", Set.of("GEMINI_", "GOOGLE_")),
  JSONL("", Set.of());

  private final String command;
  private final Set<String> prefixes;

  Program(String command, Set<String> prefixes) {
    this.command = command;
    this.prefixes = prefixes;
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
