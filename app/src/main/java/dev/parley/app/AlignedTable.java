package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import java.io.PrintStream;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Prints rows of text in aligned columns.
final class AlignedTable {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

  private final List<List<String>> rows = new ArrayList<>();

  AlignedTable(String... titles) {
    rows.add(List.of(titles));
  }

  void row(String... cells) {
    rows.add(List.of(cells));
  }

  void print(PrintStream out, TextStyle textStyle) {
    var widths = new int[rows.getFirst().size()];
    for (var row : rows) {
      for (var i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    for (var row : rows) {
      var line = new StringBuilder();
      for (var i = 0; i < widths.length; i++) {
        line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
      }
      var text = line.toString().stripTrailing();
      out.println(row.equals(rows.getFirst()) ? textStyle.bold(text) : text);
    }
    out.flush();
  }

  static String time(Instant instant) {
    return TIME.format(instant.atZone(ZoneId.systemDefault()));
  }
}
