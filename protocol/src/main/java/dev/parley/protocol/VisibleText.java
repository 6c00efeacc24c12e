package dev.parley.protocol;

import java.util.Locale;

/// Makes hidden characters in a text visible, so that users see what they approve. Invisible
/// characters, characters that change the text direction and characters that move the cursor are
/// shown by their number (backslash, `u{202E}`), and long runs of spaces as `⟨300 spaces⟩`.
///
/// The result is for display only. Text without such characters, and text that was already
/// converted, stays unchanged.
public final class VisibleText {

  /// Indentation may be longer than a gap between words.
  private static final int INDENT_MAX = 40;

  private static final int SPACES_MAX = 8;
  private static final int BREAKS_MAX = 4;
  private static final int MARKS_MAX = 4;

  private VisibleText() {}

  /// The text for display. Line breaks and tabs are kept.
  public static String of(String text) {
    var shown = new StringBuilder(text.length() + 16);
    var marks = 0;
    for (var i = 0; i < text.length(); ) {
      var point = text.codePointAt(i);
      if (point == ' ' || point == '\t' || point == '\n') {
        i = run(text, i, shown);
        marks = 0;
        continue;
      }
      marks = isMark(point) ? marks + 1 : 0;
      if (isHidden(point) || marks > MARKS_MAX) {
        shown
            .append("\\u{")
            .append(Integer.toHexString(point).toUpperCase(Locale.ROOT))
            .append('}');
      } else {
        shown.appendCodePoint(point);
      }
      i += Character.charCount(point);
    }
    return shown.toString();
  }

  /// Adds a run of spaces and tabs, or of line breaks. Returns the index of its end.
  private static int run(String text, int from, StringBuilder shown) {
    var breaks = text.charAt(from) == '\n';
    var end = from;
    while (end < text.length()
        && (breaks
            ? text.charAt(end) == '\n'
            : text.charAt(end) == ' ' || text.charAt(end) == '\t')) {
      end++;
    }
    var indents = from == 0 || text.charAt(from - 1) == '\n';
    var max = breaks ? BREAKS_MAX : indents ? INDENT_MAX : SPACES_MAX;
    if (end - from <= max) {
      shown.append(text, from, end);
    } else {
      shown.append('⟨').append(end - from).append(breaks ? " line breaks⟩\n" : " spaces⟩");
    }
    return end;
  }

  private static boolean isMark(int point) {
    return switch (Character.getType(point)) {
      case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK -> true;
      default -> false;
    };
  }

  /// True for a character that is invisible, changes the text direction or moves the cursor. A
  /// space is not hidden.
  public static boolean isHidden(int point) {
    if (point == ' ') {
      return false;
    }
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SPACE_SEPARATOR ->
          true;
      default -> isBlank(point);
    };
  }

  /// True for letters, marks and symbols that are invisible.
  private static boolean isBlank(int point) {
    return point == 0x34F
        || point == 0x115F
        || point == 0x1160
        || point == 0x17B4
        || point == 0x17B5
        || (point >= 0x180B && point <= 0x180F)
        || point == 0x2800
        || point == 0x3164
        || (point >= 0xFE00 && point <= 0xFE0F)
        || point == 0xFFA0
        || (point >= 0xE0100 && point <= 0xE01EF);
  }
}
