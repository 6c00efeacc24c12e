package dev.parley.http;

import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// Reads the table of states in `docs/names.md`, to compare it with the names that each API uses.
public final class StateNamesTable {

  private StateNamesTable() {}

  /// The name of a state in the column with this title.
  public static String word(TaskState state, String title) {
    var rows = rows();
    var column = rows.getFirst().indexOf(title);
    return rows.stream()
        .filter(row -> row.getFirst().equals("`" + state.wire() + "`"))
        .map(row -> row.get(column))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no row for " + state));
  }

  private static List<List<String>> rows() {
    return text()
        .lines()
        .dropWhile(line -> !line.startsWith("| State |"))
        .takeWhile(line -> line.startsWith("|"))
        .map(line -> Arrays.stream(line.split("\\|")).skip(1).map(String::strip).toList())
        .toList();
  }

  private static String text() {
    var folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve("docs"))) {
      folder = folder.getParent();
    }
    try {
      return Files.readString(folder.resolve("docs").resolve("names.md"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
