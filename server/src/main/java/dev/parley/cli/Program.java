package dev.parley.cli;

import dev.parley.protocol.WireName;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

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

  /// Where it is on the `PATH` of an environment, if it is.
  public Optional<Path> find(Map<String, String> environment) {
    if (command.isEmpty()) {
      return Optional.empty();
    }
    return find(command, environment);
  }

  /// True if this word would start something in this environment.
  static boolean isThere(String word, Map<String, String> environment) {
    return word.indexOf('/') < 0
        ? find(word, environment).isPresent()
        : resolve("", word).filter(Program::starts).isPresent();
  }

  private static Optional<Path> find(String word, Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(folder -> !folder.isEmpty())
        .flatMap(folder -> resolve(folder, word).stream())
        .filter(Program::starts)
        .findFirst();
  }

  private static boolean starts(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }

  private static Optional<Path> resolve(String folder, String word) {
    try {
      return Optional.of(Path.of(folder, word));
    } catch (InvalidPathException unreadable) {
      return Optional.empty();
    }
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
