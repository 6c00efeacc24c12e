package dev.parley.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Formats rows of text in columns: the first is aligned left, the others right.
final class ReportTable {

  private final List<List<String>> rows = new ArrayList<>();

  ReportTable(String... head) {
    rows.add(List.of(head));
  }

  ReportTable row(String... cells) {
    rows.add(List.of(cells));
    return this;
  }

  /// All rows, beginning with the head.
  List<List<String>> rows() {
    return List.copyOf(rows);
  }

  List<String> lines() {
    var widths =
        IntStream.range(0, rows.getFirst().size())
            .map(column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
            .toArray();
    var lines = new ArrayList<String>();
    for (var row : rows) {
      lines.add(line(row, widths));
      if (lines.size() == 1) {
        lines.add("-".repeat(lines.getFirst().length()));
      }
    }
    return lines;
  }

  private static String line(List<String> row, int[] widths) {
    var line = new StringBuilder();
    for (var column = 0; column < widths.length; column++) {
      var cell = row.get(column);
      var space = " ".repeat(widths[column] - cell.length());
      line.append(column == 0 ? cell + space : "  " + space + cell);
    }
    return line.toString();
  }
}
