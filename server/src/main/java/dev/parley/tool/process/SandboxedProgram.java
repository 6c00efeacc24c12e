package dev.parley.tool.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A program for a [Sandbox]: its words, the folder in which it starts, its complete environment, and
/// what it may use.
record SandboxedProgram(
    List<String> words, Path folder, Map<String, String> environment, ProcessIsolation isolation) {

  SandboxedProgram {
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
  }
}
