package dev.parley.tool;

import java.time.InstantSource;
import java.util.List;

/// The tools that come with Parley.
public final class BuiltInTools {

  private BuiltInTools() {}

  /// All of them: they read the working directory, count, tell the time and write artifacts.
  public static List<Tool> all(InstantSource time) {
    return List.of(
        new ReadFile(),
        new ListFiles(),
        new SearchFiles(),
        new Calculator(),
        new Clock(time),
        new Dataset(),
        new Data(),
        new Report());
  }

  /// The name under which a configuration asks for the tool.
  public static String group(Tool tool) {
    return switch (tool.name()) {
      case "read_file", "list_files", "search_files" -> "files";
      case "dataset", "data", "report" -> "artifacts";
      default -> tool.name();
    };
  }
}
