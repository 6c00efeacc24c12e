package dev.parley.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// What a person types, a line at a time. For one thread; [#reading] may be asked from any.
final class Lines {

  private final Terminal terminal;
  private final BufferedReader lines;
  private volatile boolean reading;

  Lines(Terminal terminal) {
    this.terminal = terminal;
    this.lines = new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8));
  }

  /// True if there is a person to ask: one who sees the question and can type.
  boolean interactive() {
    return terminal.inIsTerminal() && terminal.errIsTerminal();
  }

  /// Asks for a line; null if no more will come.
  @Nullable String read(String prompt) throws IOException {
    terminal.err().print(terminal.errStyle().bold(prompt));
    terminal.err().flush();
    reading = true;
    try {
      return lines.readLine();
    } finally {
      reading = false;
    }
  }

  /// True while a line is waited for.
  boolean reading() {
    return reading;
  }

  /// Asks for a line that is not shown while it is typed; null if no more will come.
  @Nullable String readSecret(String prompt) throws IOException {
    var console = terminal.in().equals(System.in) ? System.console() : null;
    if (console == null) {
      return read(prompt);
    }
    reading = true;
    try {
      var typed = console.readPassword("%s", prompt);
      return typed == null ? null : new String(typed);
    } finally {
      reading = false;
    }
  }
}
