package dev.parley.door;

import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// The table of states in `docs/names.md`, for comparing it with what each door really says.
public final class NamesTable {

  private NamesTable() {}

  /// What stands for a state in the column of this title.
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
