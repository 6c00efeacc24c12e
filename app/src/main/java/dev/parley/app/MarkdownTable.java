package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import java.util.ArrayList;
import java.util.List;

/// Formats a Markdown table in aligned columns.
final class MarkdownTable {

  private static final String GAP = "  ";

  private MarkdownTable() {}

  /// The lines of the table. Its second row sets the alignment of the columns.
  static List<String> lines(List<String> rows) {
    var rule = cells(rows.get(1));
    var cells = new ArrayList<List<InlineMarkdown>>();
    for (var i = 0; i < rows.size(); i++) {
      if (i != 1) {
        cells.add(row(rows.get(i), rule.size(), i == 0 ? "1" : ""));
      }
    }
    var widths = new int[rule.size()];
    for (var row : cells) {
      for (var i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).width());
      }
    }
    var lines = new ArrayList<String>();
    for (var row : cells) {
      var line = new StringBuilder();
      for (var i = 0; i < widths.length; i++) {
        line.append(i == 0 ? "" : GAP).append(padded(row.get(i), widths[i], rule.get(i)));
      }
      lines.add(line.toString().stripTrailing());
      if (lines.size() == 1) {
        var parts = new ArrayList<String>();
        for (var width : widths) {
          parts.add("─".repeat(width));
        }
        lines.add(TextStyle.paint("2", String.join(GAP, parts)));
      }
    }
    return lines;
  }

  private static List<InlineMarkdown> row(String text, int columns, String codes) {
    var cells = new ArrayList<InlineMarkdown>();
    for (var cell : cells(text)) {
      if (cells.size() < columns) {
        cells.add(rendered(cell, codes));
      }
    }
    while (cells.size() < columns) {
      cells.add(rendered("", codes));
    }
    return cells;
  }

  private static InlineMarkdown rendered(String text, String codes) {
    var cell = new InlineMarkdown(text, true);
    cell.render(codes);
    return cell;
  }

  private static String padded(InlineMarkdown cell, int width, String rule) {
    var free = width - cell.width();
    var right = rule.endsWith(":");
    var before = right ? (rule.startsWith(":") ? free / 2 : free) : 0;
    return " ".repeat(before) + cell.styled() + " ".repeat(free - before);
  }

  /// The cells of a row. A bar after a backslash or inside code is text.
  private static List<String> cells(String row) {
    var text = row.strip();
    var cells = new ArrayList<String>();
    var cell = new StringBuilder();
    var code = false;
    for (var i = text.startsWith("|") ? 1 : 0; i < text.length(); i++) {
      var c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length() && text.charAt(i + 1) == '|') {
        cell.append('|');
        i++;
      } else if (c == '|' && !code) {
        cells.add(cell.toString().strip());
        cell.setLength(0);
      } else {
        code ^= c == '`';
        cell.append(c);
      }
    }
    if (!cell.toString().isBlank()) {
      cells.add(cell.toString().strip());
    }
    return cells;
  }
}
