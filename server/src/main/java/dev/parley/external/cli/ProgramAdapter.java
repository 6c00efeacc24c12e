package dev.parley.external.cli;

import java.nio.file.Path;
import java.util.Optional;

/// Starts one kind of program, and parses its output.
interface ProgramAdapter {

  /// A parser for one run of the program with this request.
  LineParser parser(ProgramRequest programRequest);

  /// The command and input that start the program for this request, in this folder.
  ProgramLaunch launch(ProgramRequest programRequest, Path folder);

  /// True if the program can resume a session.
  boolean resumes();

  /// True if the program can resume a copy of a session, cut at a place in it.
  default boolean forks() {
    return false;
  }

  /// True if this message of the program means that the session does not exist.
  default boolean isSessionLost(String message) {
    return false;
  }

  /// The main argument of a tool, such as the command or the path, if it is known.
  default Optional<String> mainArgument(String tool) {
    return Optional.empty();
  }

  /// The id of the question that this line withdraws, if any.
  default Optional<String> withdrawnQuestion(String line) {
    return Optional.empty();
  }

  /// The line that asks the program to stop, if it supports one.
  default Optional<String> interruptLine() {
    return Optional.empty();
  }
}
