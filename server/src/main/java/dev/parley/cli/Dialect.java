package dev.parley.cli;

import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// How to start one of the programs, understand it, and answer it.
interface Dialect {

  /// One for a run with this errand.
  LineParser parser(Errand errand);

  /// How to start the program for this.
  Launch launch(Errand errand);

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

  /// The line that says that a call may be made, with these arguments.
  default String allow(String request, ObjectNode arguments) {
    throw new UnsupportedOperationException();
  }

  /// The line that says that a call may not be made, and why.
  default String deny(String request, String reason) {
    throw new UnsupportedOperationException();
  }

  /// The line that says that the program will not get what it waits for.
  default String refuse(String request, String reason) {
    throw new UnsupportedOperationException();
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
