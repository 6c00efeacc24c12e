package dev.parley.app;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// A terminal that a test can read.
final class TestTerminal {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Terminal terminal;

  private TestTerminal(
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
  static TestTerminal piped(Map<String, String> variables) {
    return new TestTerminal(null, false, "", variables);
  }

  static TestTerminal piped(Map<String, String> variables, String input) {
    return new TestTerminal(null, false, input, variables);
  }

  /// One terminal for all, without colours.
  static TestTerminal terminal(Map<String, String> variables, String input) {
    var all = new java.util.HashMap<>(variables);
    all.put("NO_COLOR", "1");
    var both = new ByteArrayOutputStream();
    var testTerminal = new TestTerminal(both, true, input, all);
    testTerminal.shared = both;
    return testTerminal;
  }

  private ByteArrayOutputStream shared;

  Terminal terminal() {
    return terminal;
  }

  int run(String... arguments) {
    return CommandLineProgram.run(terminal, arguments);
  }

  String out() {
    return (shared == null ? out : shared).toString(StandardCharsets.UTF_8);
  }

  String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
