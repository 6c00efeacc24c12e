package dev.parley.tool.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A program to run: its words, its folder, its complete environment, and how its streams are
/// connected.
public record ProcessCommand(
    List<String> words, Path folder, Map<String, String> environment, ProcessStreams streams) {

  public ProcessCommand {
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
    if (words.isEmpty()) {
      throw new IllegalArgumentException("a command needs at least one word");
    }
  }

  /// How the input, output and errors of a child are connected.
  public enum ProcessStreams {
    /// No input; errors are merged with the output, in order.
    OUTPUT_ONLY,
    /// Separate input, output and errors.
    ALL
  }
}
