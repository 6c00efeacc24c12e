package dev.parley.app;

import dev.parley.log.OwnerOnlyFiles;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.jline.keymap.KeyMap;
import org.jline.reader.Candidate;
import org.jline.reader.CompletingParsedLine;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReader.Option;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;
import org.jline.reader.Reference;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import org.jspecify.annotations.Nullable;

/// Reads typed lines with JLine: editing, history, search and completion.
///
/// No other class uses JLine, and it is only loaded on a terminal. For one thread; signal handlers
/// run on other threads.
final class LineEditor implements AutoCloseable {

  private static final int HISTORY_MAX = 2_000;
  private static final int HISTORY_FILE_MAX = 4_000;
  private static final String NEW_LINE = "insert-new-line";

  /// Styles of the completion list without colours. For an empty style, JLine uses its default.
  private static final Map<String, String> WITHOUT_COLOURS =
      Map.of(
          LineReader.COMPLETION_STYLE_STARTING, "bold",
          LineReader.COMPLETION_STYLE_DESCRIPTION, "faint",
          LineReader.COMPLETION_STYLE_LIST_STARTING, "bold",
          LineReader.COMPLETION_STYLE_LIST_DESCRIPTION, "faint");

  /// Key sequences of terminals that ignore the keypad mode that JLine sets.
  private static final Map<String, String> ARROWS =
      Map.of(
          "\u001b[A", LineReader.UP_LINE_OR_SEARCH,
          "\u001b[B", LineReader.DOWN_LINE_OR_SEARCH,
          "\u001b[C", LineReader.FORWARD_CHAR,
          "\u001b[D", LineReader.BACKWARD_CHAR,
          "\u001b[H", LineReader.BEGINNING_OF_LINE,
          "\u001b[F", LineReader.END_OF_LINE);

  private final org.jline.terminal.Terminal terminal;
  private final LineReader messages;
  private final LineReader answers;

  /// Ctrl-C was pressed; `typed` is the text of the line so far.
  static final class Interrupted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String typed;

    Interrupted(String typed) {
      super("interrupted", null, false, false);
      this.typed = typed;
    }

    String typed() {
      return typed;
    }
  }

  private LineEditor(
      org.jline.terminal.Terminal terminal,
      @Nullable Path history,
      ChatCompleter chatCompleter,
      boolean coloured) {
    this.terminal = terminal;
    this.messages = messages(terminal, history, chatCompleter);
    if (!coloured) {
      WITHOUT_COLOURS.forEach(messages::setVariable);
    }
    this.answers =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .parser(new WholeLineParser())
            .variable(LineReader.DISABLE_HISTORY, true)
            .variable(LineReader.DISABLE_COMPLETION, true)
            .variable(LineReader.BELL_STYLE, "none")
            .build();
  }

  /// Opens an editor on this process's terminal. Messages are saved to `history`, unless it is
  /// null.
  static LineEditor open(@Nullable Path history, ChatCompleter chatCompleter, boolean coloured)
      throws IOException {
    var terminal =
        TerminalBuilder.builder()
            .system(true)
            .provider(TerminalBuilder.PROP_PROVIDER_FFM)
            .dumb(false)
            .build();
    try {
      return new LineEditor(terminal, prepared(history), chatCompleter, coloured);
    } catch (RuntimeException | Error failed) {
      terminal.close();
      throw failed;
    }
  }

  /// Runs `action` at Ctrl-C while no line is read.
  void onInterrupt(Runnable action) {
    terminal.handle(Signal.INT, _ -> action.run());
  }

  /// Reads a message, which may have several lines; null at the end of the input.
  ///
  /// @throws Interrupted if Ctrl-C was pressed
  @Nullable String message(String prompt) {
    var typed = read(() -> messages.readLine(prompt));
    return typed == null ? null : typed.replace("\\\n", "\n");
  }

  /// Reads one line that starts as `text` and is not saved to the history; null at the end of the
  /// input.
  ///
  /// @throws Interrupted if Ctrl-C was pressed
  @Nullable String answer(String prompt, String text) {
    return read(() -> answers.readLine(prompt, null, (Character) null, text));
  }

  /// Reads one line that is neither saved nor shown; null at the end of the input.
  ///
  /// @throws Interrupted if Ctrl-C was pressed
  @Nullable String secret(String prompt) {
    return read(() -> answers.readLine(prompt, '\0'));
  }

  private interface Reading {
    String run();
  }

  private static @Nullable String read(Reading reading) {
    try {
      return reading.run();
    } catch (UserInterruptException interrupted) {
      throw new Interrupted(interrupted.getPartialLine());
    } catch (EndOfFileException ended) {
      return null;
    }
  }

  @Override
  public void close() throws IOException {
    terminal.close();
  }

  private static LineReader messages(
      org.jline.terminal.Terminal terminal, @Nullable Path history, ChatCompleter chatCompleter) {
    var builder =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .appName("parley")
            .parser(new WholeLineParser())
            .completer((_, line, found) -> complete(chatCompleter, line, found))
            // The prompt of the second and later lines.
            .variable(LineReader.SECONDARY_PROMPT_PATTERN, "%P  ")
            .variable(LineReader.BELL_STYLE, "none")
            .variable(LineReader.HISTORY_SIZE, HISTORY_MAX)
            .variable(LineReader.HISTORY_FILE_SIZE, HISTORY_FILE_MAX)
            .option(Option.DISABLE_EVENT_EXPANSION, true)
            .option(Option.HISTORY_REDUCE_BLANKS, false);
    if (history != null) {
      builder.variable(LineReader.HISTORY_FILE, history);
    }
    var reader = builder.build();
    reader
        .getWidgets()
        .put(
            NEW_LINE,
            () -> {
              reader.getBuffer().write('\n');
              return true;
            });
    for (var map : List.of(LineReader.EMACS, LineReader.VIINS, LineReader.MAIN)) {
      var keys = reader.getKeyMaps().get(map);
      if (keys != null) {
        keys.bind(new Reference(NEW_LINE), KeyMap.alt('\r'), KeyMap.alt('\n'));
        ARROWS.forEach((sequence, widget) -> keys.bind(new Reference(widget), sequence));
      }
    }
    return reader;
  }

  private static void complete(
      ChatCompleter chatCompleter, ParsedLine line, List<Candidate> found) {
    for (var completion : chatCompleter.of(line.line().substring(0, line.cursor()))) {
      found.add(
          new Candidate(
              completion.text(),
              completion.text(),
              null,
              completion.description(),
              null,
              null,
              true));
    }
  }

  /// Creates the history file, readable only by its owner; null if that fails.
  private static @Nullable Path prepared(@Nullable Path history) {
    if (history == null) {
      return null;
    }
    var folder = history.toAbsolutePath().getParent();
    if (folder == null) {
      return null;
    }
    try {
      var posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
      if (posix) {
        var owner = PosixFilePermissions.fromString("rwx------");
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(owner));
      } else {
        Files.createDirectories(folder);
      }
      OwnerOnlyFiles.createFile(history);
      if (!Files.isRegularFile(history, LinkOption.NOFOLLOW_LINKS)) {
        return null;
      }
      if (posix) {
        Files.setPosixFilePermissions(history, PosixFilePermissions.fromString("rw-------"));
      }
      return history;
    } catch (IOException impossible) {
      return null;
    }
  }

  /// Uses the line as it is: quotes and blanks have no meaning. A backslash at the end continues
  /// the message on the next line.
  private static final class WholeLineParser implements Parser {

    @Override
    public ParsedLine parse(String line, int cursor, ParseContext context) {
      if (context == ParseContext.ACCEPT_LINE && line.endsWith("\\")) {
        throw new EOFError(-1, cursor, "the message continues", "");
      }
      var start = cursor;
      while (start > 0 && !Character.isWhitespace(line.charAt(start - 1))) {
        start--;
      }
      var words = start == 0 ? List.of("") : List.of(line.substring(0, start).strip(), "");
      return new WordAtCursor(line, cursor, words, line.substring(start, cursor));
    }

    @Override
    public boolean isEscapeChar(char c) {
      return false;
    }
  }

  /// The word before the cursor.
  private record WordAtCursor(String line, int cursor, List<String> before, String word)
      implements CompletingParsedLine {

    @Override
    public CharSequence escape(CharSequence candidate, boolean complete) {
      return candidate;
    }

    @Override
    public int rawWordCursor() {
      return word.length();
    }

    @Override
    public int rawWordLength() {
      return word.length();
    }

    @Override
    public int wordCursor() {
      return word.length();
    }

    @Override
    public int wordIndex() {
      return before.size() - 1;
    }

    @Override
    public List<String> words() {
      return wordIndex() == 0 ? List.of(word) : List.of(before.getFirst(), word);
    }
  }
}
