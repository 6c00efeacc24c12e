package dev.parley.mcp;

/// Text of others, kept within bounds.
final class Text {

  private Text() {}

  /// The text, or how it begins.
  static String cut(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    var end = Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max;
    return text.substring(0, end) + "…";
  }

  /// The text with a full stop at its end, if nothing ends it yet.
  static String sentence(String text) {
    var stripped = text.stripTrailing();
    return stripped.isEmpty() || ".!?…".indexOf(stripped.charAt(stripped.length() - 1)) >= 0
        ? stripped
        : stripped + ".";
  }
}
