package dev.parley.cli;

import java.nio.file.Path;
import java.util.Optional;

/// How to start one of the programs, and to understand it.
interface Dialect {

  /// One for a run with this errand.
  LineParser parser(Errand errand);

  /// How to start the program for this, in this folder.
  Launch launch(Errand errand, Path folder);

  /// True if it can go on with a session.
  boolean resumes();

  /// True if it can go on with a copy of a session, taken back to a place in it.
  default boolean goesBack() {
    return false;
  }

  /// True if this is how it says that there is no such session.
  default boolean lost(String message) {
    return false;
  }

  /// The argument of a tool that says what a call is about, if that is known.
  default Optional<String> mainArgument(String tool) {
    return Optional.empty();
  }

  /// Which question the program takes back by this line, if it does by it.
  default Optional<String> withdraws(String line) {
    return Optional.empty();
  }

  /// The line that asks it to stop, if it understands one.
  default Optional<String> interrupt() {
    return Optional.empty();
  }

  static Dialect of(CliSettings settings) {
    return switch (settings.program()) {
      case CLAUDE -> new ClaudeDialect(settings);
      case CODEX -> new CodexDialect(settings);
      case GEMINI -> new GeminiDialect(settings);
      case JSONL -> new JsonlDialect(settings);
    };
  }
}
