package dev.parley.app;

import dev.parley.protocol.VisibleText;

/// Makes text of models and tools safe to print: it must not move the cursor, change the window
/// title or reverse the direction of a line.
final class TextSanitizer {

  private static final String ELLIPSIS = "...";

  private TextSanitizer() {}

  /// The text without control characters other than line breaks and tabs.
  static String text(String raw) {
    return strip(raw, true);
  }

  /// Text that the user decides on: nothing is left out, and invisible characters are written as
  /// escapes.
  static String visible(String raw) {
    return VisibleText.of(raw);
  }

  /// The text as one line of at most `max` characters.
  static String line(String raw, int max) {
    var line = strip(raw, false).strip();
    if (line.codePointCount(0, line.length()) <= max) {
      return line;
    }
    return line.substring(0, line.offsetByCodePoints(0, max - ELLIPSIS.length())) + ELLIPSIS;
  }

  private static String strip(String raw, boolean keepBreaks) {
    var clean = new StringBuilder(raw.length());
    raw.codePoints()
        .forEach(
            point -> {
              if (point == '\n' || point == '\t') {
                clean.append(keepBreaks ? (char) point : ' ');
              } else if (printable(point)) {
                clean.appendCodePoint(point);
              }
            });
    return clean.toString();
  }

  private static boolean printable(int point) {
    return switch (Character.getType(point)) {
      // Lone surrogates and C0, DEL, C1.
      case Character.CONTROL, Character.SURROGATE -> false;
      // Marks that reverse the text direction are removed; joiners, which emoji need, are kept.
      case Character.FORMAT ->
          !(point >= 0x202A && point <= 0x202E) && !(point >= 0x2066 && point <= 0x2069);
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      default -> true;
    };
  }
}
