package dev.parley.app;

/// Colours text, or leaves it alone.
record Style(boolean coloured) {

  String dim(String text) {
    return paint("2", text);
  }

  String bold(String text) {
    return paint("1", text);
  }

  String red(String text) {
    return paint("31", text);
  }

  String green(String text) {
    return paint("32", text);
  }

  String yellow(String text) {
    return paint("33", text);
  }

  private String paint(String code, String text) {
    return coloured && !text.isEmpty() ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }
}
