package dev.parley.tool;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// A table that is parsed from text: the first line contains the names of the columns.
///
/// Fields may be quoted, and then contain separators, line ends and doubled quotes. The separator
/// is the most frequent of comma, semicolon and tab in the first line. Rows may be shorter or
/// longer than the first line; `ragged` counts those. Empty lines are ignored.
record Csv(List<String> columns, List<List<String>> rows, int ragged) {

  private static final int COLUMNS_MAX = 1_000;
  // A value with a leading zero, such as a postcode, is not a number.
  private static final Pattern NUMBER =
      Pattern.compile("[-+]?(?:0|[1-9]\\d{0,30})(?:\\.\\d{1,30})?(?:[eE][-+]?\\d{1,2})?");

  static Csv parse(String text) {
    var lines = new Lines(text, separator(text)).read();
    if (lines.isEmpty()) {
      return new Csv(List.of(), List.of(), 0);
    }
    var first = lines.getFirst();
    var rows = lines.subList(1, lines.size());
    var width = rows.stream().mapToInt(List::size).max().orElse(0);
    var ragged = (int) rows.stream().filter(row -> row.size() != first.size()).count();
    return new Csv(names(first, Math.max(width, first.size())), List.copyOf(rows), ragged);
  }

  /// The numbers in a column; empty if the column contains anything else. Empty cells are ignored.
  List<BigDecimal> numbers(int column) {
    var cells =
        rows.stream()
            .filter(row -> column < row.size())
            .map(row -> row.get(column).strip())
            .filter(cell -> !cell.isEmpty())
            .toList();
    return cells.stream().allMatch(cell -> NUMBER.matcher(cell).matches())
        ? cells.stream().map(BigDecimal::new).toList()
        : List.of();
  }

  private static List<String> names(List<String> first, int width) {
    Set<String> taken = new HashSet<>();
    taken.add(DatasetTool.FILE_COLUMN);
    return IntStream.range(0, width)
        .mapToObj(
            i -> {
              var given = i < first.size() ? first.get(i).strip() : "";
              var name = given.isEmpty() ? "column " + (i + 1) : given;
              var unique = name;
              for (var n = 2; !taken.add(unique); n++) {
                unique = name + "_" + n;
              }
              return unique;
            })
        .toList();
  }

  private static char separator(String text) {
    var line = text.lines().filter(l -> !l.isBlank()).findFirst().orElse("");
    var best = ',';
    for (var candidate : new char[] {';', '\t'}) {
      if (count(line, candidate) > count(line, best)) {
        best = candidate;
      }
    }
    return best;
  }

  private static long count(String line, char wanted) {
    return line.chars().filter(c -> c == wanted).count();
  }

  /// Splits text into lines of fields. For one thread.
  private static final class Lines {
    private final String text;
    private final char separator;
    private final List<List<String>> lines = new ArrayList<>();
    private List<String> line = new ArrayList<>();
    private int at;

    Lines(String text, char separator) {
      this.text = text;
      this.separator = separator;
    }

    List<List<String>> read() {
      while (at < text.length()) {
        var field = text.charAt(at) == '"' ? quoted() : plain();
        if (line.size() < COLUMNS_MAX) {
          line.add(field);
        }
        if (at < text.length() && text.charAt(at) == separator) {
          at++;
          if (at == text.length()) {
            line.add("");
          }
        } else {
          endLine();
        }
      }
      endLine();
      return lines;
    }

    private String plain() {
      var start = at;
      while (at < text.length() && !ends(text.charAt(at))) {
        at++;
      }
      return text.substring(start, at);
    }

    private String quoted() {
      var field = new StringBuilder();
      for (at++; at < text.length(); at++) {
        var c = text.charAt(at);
        if (c != '"') {
          field.append(c);
        } else if (at + 1 < text.length() && text.charAt(at + 1) == '"') {
          field.append('"');
          at++;
        } else {
          at++;
          break;
        }
      }
      // Text between the closing quote and the separator belongs to the field.
      return field.append(plain()).toString();
    }

    private boolean ends(char c) {
      return c == separator || c == '\n' || c == '\r';
    }

    private void endLine() {
      if (at < text.length() && text.charAt(at) == '\r') {
        at++;
      }
      if (at < text.length() && text.charAt(at) == '\n') {
        at++;
      }
      if (line.size() > 1 || (line.size() == 1 && !line.getFirst().isBlank())) {
        lines.add(List.copyOf(line));
      }
      line = new ArrayList<>();
    }
  }
}
