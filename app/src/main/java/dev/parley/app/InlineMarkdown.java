package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import java.lang.Character.UnicodeScript;

/// Renders the text of one line of Markdown: bold, italics, code, links.
///
/// If the text is not `complete`, rendering stops before markup that may still end. For one thread.
final class InlineMarkdown {

  private static final String BOLD = "1";
  private static final String ITALIC = "3";
  private static final String UNDERLINED = "4";
  private static final String STRUCK = "9";
  private static final String CODE = "36";

  /// Markup that has not ended after this many characters is text.
  private static final int HELD_MAX = 1_000;

  private static final String PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

  private final String text;
  private final int from;
  private final boolean complete;
  private final StringBuilder styled = new StringBuilder();
  private final StringBuilder run = new StringBuilder();
  private int width;

  InlineMarkdown(String text, boolean complete) {
    this(text, 0, complete);
  }

  /// The part of `text` that begins at `from`.
  InlineMarkdown(String text, int from, boolean complete) {
    this.text = text;
    this.from = from;
    this.complete = complete;
  }

  /// The rendered text with its terminal codes.
  String styled() {
    return styled.toString();
  }

  /// The number of columns of the rendered text.
  int width() {
    return width;
  }

  /// Renders the text that further input cannot change, with these terminal codes, and returns
  /// where it ends.
  int render(String codes) {
    var done = render(text.length(), codes);
    flush(codes);
    return done;
  }

  private int render(int end, String codes) {
    var i = from;
    while (i < end) {
      var c = text.charAt(i);
      int next =
          switch (c) {
            case '\\' -> escaped(i, end);
            case '`' -> code(i, end, codes);
            case '*', '_', '~' -> emphasis(i, end, codes);
            case '[', '!' -> link(i, end, codes);
            default -> literal(i, 1);
          };
      if (next < 0) {
        // Incomplete markup waits for more text.
        return i;
      }
      i = next;
    }
    return i;
  }

  private int literal(int i, int count) {
    run.append(text, i, i + count);
    return i + count;
  }

  /// Handles markup at `i` without an end: waits for more text (-1), or renders it as text.
  private int unclosed(int i, int end, int count) {
    var waits = !complete && end == text.length() && end - i < HELD_MAX;
    return waits ? -1 : literal(i, count);
  }

  private int escaped(int i, int end) {
    if (i + 1 >= end) {
      return unclosed(i, end, 1);
    }
    return PUNCTUATION.indexOf(text.charAt(i + 1)) >= 0 ? literal(i + 1, 1) : literal(i, 1);
  }

  private int code(int i, int end, String codes) {
    var ticks = count(i, end, '`');
    var mark = "`".repeat(ticks);
    for (var close = text.indexOf(mark, i + ticks); close >= 0 && close + ticks <= end; ) {
      var found = count(close, end, '`');
      if (found == ticks) {
        if (!complete && close + ticks == text.length()) {
          // Another tick may follow.
          return -1;
        }
        paint(text.substring(i + ticks, close), CODE, codes);
        return close + ticks;
      }
      close = text.indexOf(mark, close + found);
    }
    return unclosed(i, end, ticks);
  }

  private int emphasis(int i, int end, String codes) {
    var c = text.charAt(i);
    var marks = count(i, end, c);
    if (i + marks >= end) {
      return unclosed(i, end, marks);
    }
    var inWord = i > 0 && Character.isLetterOrDigit(text.charAt(i - 1));
    var fits = c == '~' ? marks == 2 : marks <= 3;
    if (inWord || !fits || Character.isWhitespace(text.charAt(i + marks))) {
      return literal(i, marks);
    }
    var mark = text.substring(i, i + marks);
    for (var close = text.indexOf(mark, i + marks); close >= 0 && close + marks <= end; ) {
      var found = count(close, end, c);
      var after = close + marks;
      var closes =
          found == marks
              && !Character.isWhitespace(text.charAt(close - 1))
              && text.charAt(close - 1) != '\\'
              && (c != '_' || after >= end || !Character.isLetterOrDigit(text.charAt(after)));
      if (closes) {
        if (!complete && after == text.length()) {
          // Another mark may follow.
          return -1;
        }
        flush(codes);
        var inner = new InlineMarkdown(text.substring(i + marks, close), true);
        inner.render(joined(codes, style(c, marks)));
        styled.append(inner.styled());
        width += inner.width();
        return after;
      }
      close = text.indexOf(mark, close + found);
    }
    return unclosed(i, end, marks);
  }

  private static String style(char mark, int marks) {
    if (mark == '~') {
      return STRUCK;
    }
    return switch (marks) {
      case 1 -> ITALIC;
      case 2 -> BOLD;
      default -> BOLD + ";" + ITALIC;
    };
  }

  /// Renders `[text](address)` together with the address: the text must not hide the target.
  private int link(int i, int end, String codes) {
    var start = text.charAt(i) == '!' ? i + 1 : i;
    if (start >= end) {
      return unclosed(i, end, 1);
    }
    if (text.charAt(start) != '[') {
      return literal(i, 1);
    }
    var depth = 0;
    var close = -1;
    for (var k = start; k < end && close < 0; k++) {
      var c = text.charAt(k);
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      close = depth == 0 ? k : -1;
    }
    if (close < 0 || close + 1 >= end) {
      return unclosed(i, end, start - i + 1);
    }
    if (text.charAt(close + 1) != '(') {
      return literal(i, start - i + 1);
    }
    var stop = text.indexOf(')', close);
    if (stop < 0 || stop >= end) {
      return unclosed(i, end, start - i + 1);
    }
    flush(codes);
    var label = text.substring(start + 1, close);
    var address = text.substring(close + 2, stop).strip();
    var inner = new InlineMarkdown(label, true);
    inner.render(joined(codes, UNDERLINED));
    styled.append(inner.styled());
    width += inner.width();
    if (!label.equals(address)) {
      paint(" (" + address + ")", "2", codes);
    }
    return stop + 1;
  }

  private int count(int from, int end, char mark) {
    var i = from;
    while (i < end && text.charAt(i) == mark) {
      i++;
    }
    return i - from;
  }

  private void paint(String words, String code, String codes) {
    flush(codes);
    run.append(words);
    flush(joined(codes, code));
  }

  private void flush(String codes) {
    var words = run.toString();
    run.setLength(0);
    styled.append(TextStyle.paint(codes, words));
    width += DisplayWidth.of(words);
  }

  private static String joined(String codes, String more) {
    return codes.isEmpty() ? more : codes + ";" + more;
  }

  /// Computes how many columns of a terminal a text takes.
  static final class DisplayWidth {

    private static final int EMOJI_FIRST = 0x1F300;
    private static final int EMOJI_LAST = 0x1FAFF;

    private DisplayWidth() {}

    static int of(String text) {
      return text.codePoints().map(DisplayWidth::of).sum();
    }

    private static int of(int point) {
      return switch (Character.getType(point)) {
        case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.FORMAT -> 0;
        default -> wide(point) ? 2 : 1;
      };
    }

    private static boolean wide(int point) {
      if (point < 0x1100) {
        return false;
      }
      if (in(point, EMOJI_FIRST, EMOJI_LAST)) {
        return true;
      }
      return switch (UnicodeScript.of(point)) {
        case HAN, HIRAGANA, KATAKANA, HANGUL, BOPOMOFO, YI -> !halfWidth(point);
        default ->
            in(point, 0x3000, 0x303F) || in(point, 0xFF01, 0xFF60) || in(point, 0xFFE0, 0xFFE6);
      };
    }

    private static boolean in(int point, int first, int last) {
      return point >= first && point <= last;
    }

    private static boolean halfWidth(int point) {
      return in(point, 0xFF61, 0xFFDC);
    }
  }
}
