package dev.parley.app;

import java.util.Locale;

/// When output is coloured.
enum ColorMode {
  /// On a terminal that can show them, unless `NO_COLOR` is set.
  AUTO,
  ALWAYS,
  NEVER;

  static final String OPTION = "--color";

  /// The mode that the arguments of a command line select.
  ///
  /// Errors about a wrong command line are coloured too, so the mode is read before the command
  /// line is parsed. The parser rejects unknown modes later.
  static ColorMode fromArguments(String... arguments) {
    var mode = AUTO;
    for (var i = 0; i < arguments.length && !arguments[i].equals("--"); i++) {
      if (arguments[i].startsWith(OPTION + "=")) {
        mode = of(arguments[i].substring(OPTION.length() + 1), mode);
      } else if (arguments[i].equals(OPTION) && i + 1 < arguments.length) {
        mode = of(arguments[i + 1], mode);
      }
    }
    return mode;
  }

  private static ColorMode of(String name, ColorMode otherwise) {
    for (var mode : values()) {
      if (mode.name().equalsIgnoreCase(name)) {
        return mode;
      }
    }
    return otherwise;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
