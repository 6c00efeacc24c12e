package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Prints Markdown to a terminal while it arrives, and never prints a part again.
///
/// Text of a paragraph is printed at once, up to markup that has not ended. Code is printed line by
/// line, a table when it is complete. Control characters are never printed. For one thread.
final class MarkdownPrinter {

  private static final Pattern FENCE = Pattern.compile("^\\s*(`{3,}|~{3,})\\s*([^`]*)$");
  private static final Pattern RULE =
      Pattern.compile("^ {0,3}(?:(?:-\\s*){3,}|(?:\\*\\s*){3,}|(?:_\\s*){3,})$");
  private static final Pattern HEADING = Pattern.compile("^ {0,3}(#{1,6})\\s+");
  private static final Pattern QUOTE = Pattern.compile("^ {0,3}((?:> ?)+)");
  private static final Pattern ITEM = Pattern.compile("^(\\s*)([-*+]|\\d{1,9}[.)])(\\s+)");
  private static final Pattern TABLE_RULE =
      Pattern.compile("^\\s*\\|?\\s*:?-+:?\\s*(?:\\|\\s*:?-+:?\\s*)*\\|?\\s*$");

  /// The start of a line whose kind is not known yet: it may become a fence, a rule or a table.
  private static final Pattern UNDECIDED =
      Pattern.compile(
          "^\\s*(?:[`~]{0,2}|[`~]{3}.*|[-*_+\\s]*|\\|.*|#{1,6}|\\d{1,9}[.)]?|(?:> ?)+)$");

  private static final int RULE_WIDTH = 40;

  private final Consumer<String> out;
  private final StringBuilder line = new StringBuilder();
  private final List<String> table = new ArrayList<>();

  /// The number of characters of the line that were printed; -1 before the line starts.
  private int printed = -1;

  private String codes = "";
  private @Nullable String fence;
  private boolean midLine;
  private char pendingSurrogate;

  /// Prints to `out`.
  MarkdownPrinter(Consumer<String> out) {
    this.out = out;
  }

  /// True if the last line that was printed has not ended.
  boolean midLine() {
    return midLine;
  }

  /// True if some text is not printed yet.
  boolean pending() {
    return !table.isEmpty() || (!line.isEmpty() && printed < line.length());
  }

  /// Adds the next piece of the text.
  void add(String piece) {
    // The two halves of a surrogate pair may arrive in two pieces.
    var text = pendingSurrogate == 0 ? piece : pendingSurrogate + piece;
    pendingSurrogate = 0;
    if (!text.isEmpty() && Character.isHighSurrogate(text.charAt(text.length() - 1))) {
      pendingSurrogate = text.charAt(text.length() - 1);
      text = text.substring(0, text.length() - 1);
    }
    var clean = TextSanitizer.text(text);
    var from = 0;
    for (var end = clean.indexOf('\n'); end >= 0; end = clean.indexOf('\n', from)) {
      line.append(clean, from, end);
      endLine();
      from = end + 1;
    }
    line.append(clean, from, clean.length());
    stream();
  }

  /// Prints the rest, without a line break at the end.
  void end() {
    pendingSurrogate = 0;
    if (fence != null && isEndOfFence(line.toString())) {
      endLine();
    } else if (startsTable(line.toString()) && !table.isEmpty()) {
      table.add(line.toString());
      line.setLength(0);
      endTable();
    } else {
      endTable();
      finish();
    }
    line.setLength(0);
    printed = -1;
    codes = "";
    fence = null;
  }

  private void endLine() {
    var text = line.toString();
    if (printed < 0 && fence == null && startsTable(text)) {
      table.add(text);
      line.setLength(0);
      return;
    }
    endTable();
    if (finish()) {
      print("\n");
    }
    line.setLength(0);
    printed = -1;
    codes = "";
  }

  private static boolean startsTable(String text) {
    return text.stripLeading().startsWith("|");
  }

  /// Prints the rest of the line; false if nothing was to be printed.
  private boolean finish() {
    var text = line.toString();
    if (printed < 0) {
      if (fence != null) {
        if (isEndOfFence(text)) {
          fence = null;
          print(TextStyle.paint("2", "──"));
        } else {
          print(TextStyle.paint("36", text));
        }
        return true;
      }
      var start = FENCE.matcher(text);
      if (start.matches()) {
        fence = start.group(1);
        print(TextStyle.paint("2", "── " + start.group(2).strip()).replace(" \u001b", "\u001b"));
        return true;
      }
      if (RULE.matcher(text).matches()) {
        print(TextStyle.paint("2", "─".repeat(RULE_WIDTH)));
        return true;
      }
      begin(text);
    }
    var rest = new InlineMarkdown(text, printed, true);
    rest.render(codes);
    print(rest.styled());
    printed = text.length();
    return true;
  }

  private boolean isEndOfFence(String text) {
    var end = FENCE.matcher(text);
    return fence != null
        && end.matches()
        && end.group(2).isBlank()
        && end.group(1).startsWith(fence);
  }

  /// Prints the part of the line that further text cannot change.
  private void stream() {
    if (fence != null || line.isEmpty()) {
      return;
    }
    var text = line.toString();
    if (printed < 0) {
      if (UNDECIDED.matcher(text).matches()) {
        return;
      }
      endTable();
      begin(text);
    }
    var rest = new InlineMarkdown(text, printed, false);
    printed = rest.render(codes);
    print(rest.styled());
  }

  /// Prints the replacement for the markup at the start of a line.
  private void begin(String text) {
    printed = 0;
    var heading = HEADING.matcher(text);
    var quote = QUOTE.matcher(text);
    var item = ITEM.matcher(text);
    if (heading.find()) {
      codes = heading.group(1).length() == 1 ? "1;4" : "1";
      printed = heading.end();
    } else if (quote.find()) {
      codes = "3";
      print(
          TextStyle.paint(
              "2", "│ ".repeat((int) quote.group(1).chars().filter(c -> c == '>').count())));
      printed = quote.end();
    } else if (item.find()) {
      var mark = item.group(2);
      print(item.group(1) + (mark.length() == 1 ? "•" : mark) + item.group(3));
      printed = item.end();
    }
  }

  private void endTable() {
    if (table.isEmpty()) {
      return;
    }
    var rows = List.copyOf(table);
    table.clear();
    if (rows.size() < 2 || !TABLE_RULE.matcher(rows.get(1)).matches()) {
      for (var row : rows) {
        var plain = new InlineMarkdown(row, true);
        plain.render("");
        print(plain.styled() + "\n");
      }
    } else {
      MarkdownTable.lines(rows).forEach(row -> print(row + "\n"));
    }
  }

  private void print(String text) {
    if (!text.isEmpty()) {
      out.accept(text);
      midLine = !text.endsWith("\n");
    }
  }
}
