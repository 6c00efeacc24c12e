package dev.parley.tool;

import java.util.ArrayList;
import java.util.List;

/// The difference of two texts for people: a unified diff, as written by `diff -u` and Git.
final class Diff {

  private static final int CONTEXT = 3;
  // Above this limit the changed part is shown as removed and added completely.
  private static final long CELLS_MAX = 1_000_000;
  private static final int LINES_SHOWN = 120;
  private static final int CHARACTERS_SHOWN = 6_000;

  /// One line of a diff: ` ` is unchanged, `-` is removed, `+` is added.
  private record Line(char sign, String text) {}

  private Diff() {}

  /// The diff, shortened if it is long; empty if both texts are the same.
  static String shown(String path, String before, String after) {
    var whole = whole(path, before, after);
    var end = 0;
    for (var lines = 0; lines < LINES_SHOWN && end < whole.length(); lines++) {
      var next = whole.indexOf('\n', end) + 1;
      if (next > CHARACTERS_SHOWN) {
        break;
      }
      end = next;
    }
    var rest = whole.substring(end).lines().count();
    return rest == 0 ? whole : whole.substring(0, end) + "[… " + rest + " more lines …]\n";
  }

  static String whole(String path, String before, String after) {
    if (before.equals(after)) {
      return "";
    }
    var text = new StringBuilder();
    text.append("--- ").append(before.isEmpty() ? "/dev/null" : path).append('\n');
    text.append("+++ ").append(path).append('\n');
    hunks(compare(lines(before), lines(after)), text);
    return text.toString();
  }

  /// Splits into lines with their line ends, so that nothing is lost.
  private static List<String> lines(String text) {
    var lines = new ArrayList<String>();
    for (var start = 0; start < text.length(); ) {
      var end = text.indexOf('\n', start);
      var next = end < 0 ? text.length() : end + 1;
      lines.add(text.substring(start, next));
      start = next;
    }
    return lines;
  }

  private static List<Line> compare(List<String> before, List<String> after) {
    var start = 0;
    var shorter = Math.min(before.size(), after.size());
    while (start < shorter && before.get(start).equals(after.get(start))) {
      start++;
    }
    var same = 0;
    while (same < shorter - start
        && before.get(before.size() - 1 - same).equals(after.get(after.size() - 1 - same))) {
      same++;
    }
    var script = new ArrayList<Line>();
    before.subList(0, start).forEach(line -> script.add(new Line(' ', line)));
    change(
        before.subList(start, before.size() - same),
        after.subList(start, after.size() - same),
        script);
    before
        .subList(before.size() - same, before.size())
        .forEach(line -> script.add(new Line(' ', line)));
    return script;
  }

  /// Keeps a longest common subsequence, found from the end by dynamic programming.
  private static void change(List<String> before, List<String> after, List<Line> script) {
    if ((before.size() + 1L) * (after.size() + 1L) > CELLS_MAX) {
      before.forEach(line -> script.add(new Line('-', line)));
      after.forEach(line -> script.add(new Line('+', line)));
      return;
    }
    var common = new int[before.size() + 1][after.size() + 1];
    for (var i = before.size() - 1; i >= 0; i--) {
      for (var j = after.size() - 1; j >= 0; j--) {
        common[i][j] =
            before.get(i).equals(after.get(j))
                ? common[i + 1][j + 1] + 1
                : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    var i = 0;
    var j = 0;
    while (i < before.size() || j < after.size()) {
      if (i < before.size() && j < after.size() && before.get(i).equals(after.get(j))) {
        script.add(new Line(' ', before.get(i++)));
        j++;
      } else if (j == after.size() || (i < before.size() && common[i + 1][j] >= common[i][j + 1])) {
        script.add(new Line('-', before.get(i++)));
      } else {
        script.add(new Line('+', after.get(j++)));
      }
    }
  }

  private static void hunks(List<Line> script, StringBuilder text) {
    var old = 1;
    var now = 1;
    for (var at = 0; at < script.size(); ) {
      var first = nextChange(script, at);
      if (first == script.size()) {
        return;
      }
      var from = Math.max(at, first - CONTEXT);
      old += from - at;
      now += from - at;
      var end = end(script, first);
      var hunk = script.subList(from, end);
      var gone = (int) hunk.stream().filter(line -> line.sign() != '+').count();
      var come = (int) hunk.stream().filter(line -> line.sign() != '-').count();
      text.append("@@ -").append(range(old, gone)).append(" +").append(range(now, come));
      text.append(" @@\n");
      hunk.forEach(line -> append(line, text));
      old += gone;
      now += come;
      at = end;
    }
  }

  private static int nextChange(List<Line> script, int from) {
    var at = from;
    while (at < script.size() && script.get(at).sign() == ' ') {
      at++;
    }
    return at;
  }

  /// The end of the hunk that has its first change here.
  private static int end(List<Line> script, int first) {
    var end = first;
    while (true) {
      while (end < script.size() && script.get(end).sign() != ' ') {
        end++;
      }
      var next = nextChange(script, end);
      if (next == script.size() || next - end > 2 * CONTEXT) {
        return Math.min(script.size(), end + CONTEXT);
      }
      end = next;
    }
  }

  private static String range(int start, int count) {
    return count == 0 ? start - 1 + ",0" : count == 1 ? "" + start : start + "," + count;
  }

  private static void append(Line line, StringBuilder text) {
    text.append(line.sign()).append(line.text());
    if (!line.text().endsWith("\n")) {
      text.append("\n\\ No newline at end of file\n");
    }
  }
}
