package dev.parley.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Reads typed lines from the terminal, with a line editor if the terminal supports one.
///
/// For one thread; [#reading] may be called by any thread.
final class TerminalInput implements AutoCloseable {

  private final Terminal terminal;
  private final ChatCompleter chatCompleter;
  private final BufferedReader lines;
  private @Nullable LineEditor editor;
  private Runnable interrupted = () -> Runtime.getRuntime().exit(CommandExit.CANCELED);
  private boolean plain;
  private volatile boolean reading;

  TerminalInput(Terminal terminal) {
    this(terminal, ChatCompleter.NONE);
  }

  TerminalInput(Terminal terminal, ChatCompleter chatCompleter) {
    this.terminal = terminal;
    this.chatCompleter = chatCompleter;
    this.lines = new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8));
    this.plain = !terminal.editable();
  }

  /// True if a user can see questions and type answers.
  boolean interactive() {
    return terminal.inIsTerminal() && terminal.errIsTerminal();
  }

  /// Runs `action` at Ctrl-C from now on. False if signals cannot be handled.
  boolean onInterrupt(Runnable action) {
    interrupted = action;
    if (editor == null) {
      return SignalHandlers.handle("INT", action);
    }
    editor.onInterrupt(action);
    return true;
  }

  /// Reads a line; null at the end of the input.
  @Nullable String read(String prompt) throws IOException {
    return read(prompt, "");
  }

  /// Reads a line that starts as `text`, if the terminal has an editor; null at the end of the
  /// input.
  @Nullable String read(String prompt, String text) throws IOException {
    return read(prompt, (editing, styled) -> editing.answer(styled, text));
  }

  /// Reads the next message of a chat; null at the end of the input.
  ///
  /// Ctrl-C discards the typed text. Pressed twice on an empty line, it runs the interrupt action.
  @Nullable String readMessage(String prompt) throws IOException {
    return read(
        prompt,
        (editing, styled) -> {
          for (var warned = false; ; ) {
            try {
              return editing.message(styled);
            } catch (LineEditor.Interrupted stopped) {
              if (stopped.typed().isBlank()) {
                if (warned) {
                  throw stopped;
                }
                terminal.err().println("Press Ctrl-C again to exit.");
                warned = true;
              } else {
                warned = false;
              }
            }
          }
        });
  }

  /// True while a line is being read.
  boolean reading() {
    return reading;
  }

  /// Reads a line that is not shown while it is typed; null at the end of the input.
  @Nullable String readSecret(String prompt) throws IOException {
    var console = terminal.in().equals(System.in) ? System.console() : null;
    if (editor() != null || console == null) {
      return read(prompt, LineEditor::secret);
    }
    reading = true;
    try {
      var typed = console.readPassword("%s", prompt);
      return typed == null ? null : new String(typed);
    } finally {
      reading = false;
    }
  }

  private interface Reading {
    @Nullable String run(LineEditor editor, String prompt);
  }

  private @Nullable String read(String prompt, Reading edited) throws IOException {
    var styled = terminal.errStyle().bold(prompt);
    var editing = editor();
    reading = true;
    try {
      if (editing != null) {
        return edited.run(editing, styled);
      }
      terminal.err().print(styled);
      terminal.err().flush();
      return lines.readLine();
    } catch (LineEditor.Interrupted _) {
      interrupted.run();
      return null;
    } finally {
      reading = false;
    }
  }

  /// The editor; null if the terminal supports none, and lines are read from standard input.
  private @Nullable LineEditor editor() {
    if (editor == null && !plain) {
      try {
        editor = LineEditor.open(history(terminal), chatCompleter, terminal.errStyle().coloured());
        editor.onInterrupt(interrupted);
      } catch (IOException | IllegalStateException unsupported) {
        plain = true;
      }
    }
    return editor;
  }

  /// The file of typed messages, in the user's folder for program state.
  static Path history(Terminal terminal) {
    var state = terminal.variable("XDG_STATE_HOME");
    var folder =
        state == null
            ? ServerOptions.home(terminal).resolve(".local").resolve("state")
            : Path.of(state);
    return folder.resolve("parley").resolve("chat-history");
  }

  @Override
  public void close() throws IOException {
    if (editor != null) {
      editor.close();
    }
  }
}
