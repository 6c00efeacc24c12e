package dev.parley.mcp;

/// Limits the length of text from other systems.
final class BoundedText {

  private BoundedText() {}

  /// The text, or its beginning if it is too long.
  static String cut(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    var end = Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max;
    return text.substring(0, end) + "…";
  }

  /// The text, with a full stop if it does not end with punctuation.
  static String sentence(String text) {
    var stripped = text.stripTrailing();
    return stripped.isEmpty() || ".!?…".indexOf(stripped.charAt(stripped.length() - 1)) >= 0
        ? stripped
        : stripped + ".";
  }
}
