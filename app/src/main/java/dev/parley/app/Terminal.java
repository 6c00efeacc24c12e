package dev.parley.app;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The program's standard streams, whether each is a terminal, and the environment.
record Terminal(
    InputStream in,
    PrintStream out,
    PrintStream err,
    Map<String, String> environment,
    boolean inIsTerminal,
    boolean outIsTerminal,
    boolean errIsTerminal,
    ColorMode color) {

  Terminal {
    environment = Map.copyOf(environment);
  }

  /// A terminal with colours if it supports them.
  Terminal(
      InputStream in,
      PrintStream out,
      PrintStream err,
      Map<String, String> environment,
      boolean inIsTerminal,
      boolean outIsTerminal,
      boolean errIsTerminal) {
    this(in, out, err, environment, inIsTerminal, outIsTerminal, errIsTerminal, ColorMode.AUTO);
  }

  /// The same with other colours.
  Terminal with(ColorMode mode) {
    return new Terminal(
        in, out, err, environment, inIsTerminal, outIsTerminal, errIsTerminal, mode);
  }

  /// The same without the environment.
  Terminal withoutEnvironment() {
    return new Terminal(in, out, err, Map.of(), inIsTerminal, outIsTerminal, errIsTerminal, color);
  }

  /// The same with other streams in front of standard output and standard error.
  Terminal withStreams(PrintStream newOut, PrintStream newErr) {
    return new Terminal(
        in, newOut, newErr, environment, inIsTerminal, outIsTerminal, errIsTerminal, color);
  }

  /// True if all three streams are a terminal of this process that can move its cursor.
  boolean editable() {
    return in.equals(System.in) && inIsTerminal && outIsTerminal && errIsTerminal && movesCursor();
  }

  /// True if a status line can be drawn and erased. If only one of the streams is a terminal, a
  /// pager may use the screen.
  boolean hasStatusLine() {
    return outIsTerminal && errIsTerminal && movesCursor();
  }

  private boolean movesCursor() {
    var type = variable("TERM");
    return type != null && !type.equals("dumb");
  }

  /// The terminal of this process.
  static Terminal system() {
    return new Terminal(
        System.in,
        utf8(FileDescriptor.out),
        utf8(FileDescriptor.err),
        System.getenv(),
        isTerminal(0),
        isTerminal(1),
        isTerminal(2));
  }

  /// The value of an environment variable, or null if it is not set or blank.
  @Nullable String variable(String name) {
    var value = environment.get(name);
    return value == null || value.isBlank() ? null : value;
  }

  /// A writer on one of the streams.
  static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(stream, true, StandardCharsets.UTF_8);
  }

  /// The style of standard output.
  TextStyle outStyle() {
    return style(outIsTerminal);
  }

  /// The style of standard error.
  TextStyle errStyle() {
    return style(errIsTerminal);
  }

  private TextStyle style(boolean isTerminal) {
    return new TextStyle(
        switch (color) {
          case ALWAYS -> true;
          case NEVER -> false;
          case AUTO ->
              isTerminal && variable("NO_COLOR") == null && !"dumb".equals(variable("TERM"));
        });
  }

  private static PrintStream utf8(FileDescriptor file) {
    return new PrintStream(new FileOutputStream(file), true, StandardCharsets.UTF_8);
  }

  private static boolean isTerminal(int descriptor) {
    var link = Path.of("/proc/self/fd/" + descriptor);
    try {
      if (Files.isSymbolicLink(link)) {
        var target = Files.readSymbolicLink(link).toString();
        return target.startsWith("/dev/pts/")
            || target.startsWith("/dev/tty")
            || target.equals("/dev/console");
      }
    } catch (IOException unreadable) {
      return false;
    }
    // On other systems Java only reports whether standard input and output are both a terminal.
    return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
  }

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
      return codes.isEmpty() || text.isEmpty()
          ? text
          : "\u001b[" + codes + "m" + text + "\u001b[0m";
    }
  }

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
}
