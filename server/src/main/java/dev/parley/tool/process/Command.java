package dev.parley.tool.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A program to run: its words, where, with which environment and no other, and how one talks to it.
public record Command(
    List<String> words, Path folder, Map<String, String> environment, Wiring wiring) {

  public Command {
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
    if (words.isEmpty()) {
      throw new IllegalArgumentException("a command needs words");
    }
  }

  /// What a child's input, output and errors are joined to.
  public enum Wiring {
    /// It has no input, and its errors come with its output, in order.
    LISTEN,
    /// It has input, output and errors.
    TALK
  }
}
