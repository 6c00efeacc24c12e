package dev.parley.app;

/// Adds colours to text, or leaves it unchanged.
record TextStyle(boolean coloured) {

  String dim(String text) {
    return apply("2", text);
  }

  String bold(String text) {
    return apply("1", text);
  }

  String red(String text) {
    return apply("31", text);
  }

  String green(String text) {
    return apply("32", text);
  }

  String yellow(String text) {
    return apply("33", text);
  }

  private String apply(String code, String text) {
    return coloured ? paint(code, text) : text;
  }

  /// The text with these terminal codes; unchanged if there are none.
  static String paint(String codes, String text) {
    return codes.isEmpty() || text.isEmpty() ? text : "\u001b[" + codes + "m" + text + "\u001b[0m";
  }
}
