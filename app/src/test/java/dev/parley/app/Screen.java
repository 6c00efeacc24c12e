package dev.parley.app;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// A terminal that a test can read.
final class Screen {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Terminal terminal;

  private Screen(
      ByteArrayOutputStream both, boolean terminals, String input, Map<String, String> variables) {
    var outStream = both == null ? out : both;
    var errStream = both == null ? err : both;
    terminal =
        new Terminal(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintStream(outStream, true, StandardCharsets.UTF_8),
            new PrintStream(errStream, true, StandardCharsets.UTF_8),
            variables,
            terminals,
            terminals,
            terminals);
  }

  /// Standard output and error piped to different places.
  static Screen piped(Map<String, String> variables) {
    return new Screen(null, false, "", variables);
  }

  static Screen piped(Map<String, String> variables, String input) {
    return new Screen(null, false, input, variables);
  }

  /// One terminal for all, without colours.
  static Screen terminal(Map<String, String> variables, String input) {
    var all = new java.util.HashMap<>(variables);
    all.put("NO_COLOR", "1");
    var both = new ByteArrayOutputStream();
    var screen = new Screen(both, true, input, all);
    screen.shared = both;
    return screen;
  }

  private ByteArrayOutputStream shared;

  Terminal terminal() {
    return terminal;
  }

  int run(String... arguments) {
    return Program.run(terminal, arguments);
  }

  String out() {
    return (shared == null ? out : shared).toString(StandardCharsets.UTF_8);
  }

  String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
