package dev.parley.api.agents;

import dev.parley.log.EventLog;
import dev.parley.projection.EntryNumbering;
import dev.parley.projection.RootTaskQueries;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.stream.ReadSize;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the entries of one agent's context in order, and numbers the agent's messages. For one
/// thread.
final class NumberedReader {

  /// A position, and the number of the agent's last message before it.
  record NumberedPosition(ContextId context, TaskId agent, Position position, long number) {

    /// The nearest position with a known number that is not above `since`, so that reading never
    /// starts at the beginning of a long log.
    static NumberedPosition of(
        RootTaskQueries queries, ContextId context, TaskId agent, long since) {
      var mark = queries.countingStart(context, agent, since);
      return new NumberedPosition(context, agent, Position.of(mark.seq()), mark.number());
    }

    /// Another position of the same agent.
    NumberedPosition at(Position elsewhere, long reached) {
      return new NumberedPosition(context, agent, elsewhere, reached);
    }
  }

  /// An entry of the context. If it is a message of the agent, `number` is its own; else it is that
  /// of the message before. `raw` is the program's line that the entry comes from, if there is one.
  record NumberedEntry(Entry entry, long number, boolean message, @Nullable String raw) {

    /// The same for a reader that may not read internal events.
    NumberedEntry withoutRaw() {
      return new NumberedEntry(entry, number, message, null);
    }
  }

  /// How many events before the start are read to find the line of the first message.
  private static final int BEFORE = 3;

  private static final int BEFORE_MAX = 256;

  private final EventLog log;
  private final ReadSize readSize;
  private final ProgramLineMatcher lines = new ProgramLineMatcher();
  private boolean begun;
  private NumberedPosition position;

  /// Reads entries after `from`.
  NumberedReader(EventLog log, ReadSize readSize, NumberedPosition from) {
    this.log = log;
    this.readSize = readSize;
    this.position = from;
  }

  /// The position after the last entry that was read.
  NumberedPosition place() {
    return position;
  }

  /// The next entries; empty at the end of the log.
  List<NumberedEntry> read() {
    readLinesBefore();
    var steps = new ArrayList<NumberedEntry>();
    var number = position.number();
    for (var entry :
        readSize.truncate(log.read(position.context(), position.position(), readSize.next()))) {
      var message = position.agent().equals(EntryNumbering.root(entry));
      number += message ? 1 : 0;
      steps.add(new NumberedEntry(entry, number, message, lines.take(entry)));
    }
    if (!steps.isEmpty()) {
      position = position.at(steps.getLast().entry().position(), number);
    }
    return steps;
  }

  /// Reads the lines just before the start.
  private void readLinesBefore() {
    if (begun) {
      return;
    }
    begun = true;
    var here = position.position();
    var before = Position.of(Math.max(0, here.seq() - BEFORE));
    if (!here.after(before)) {
      return;
    }
    for (var entry : log.read(position.context(), before, BEFORE_MAX)) {
      if (entry.position().after(here)) {
        return;
      }
      lines.take(entry);
    }
  }

  /// Finds the program's line that a message comes from: the last line of its task before the message
  /// that no earlier message has. Takes the entries of a context in order. For one thread.
  static final class ProgramLineMatcher {

    private final Map<TaskId, InternalRaw> unused = new HashMap<>();

    /// The line of an entry, if there is one.
    @Nullable String take(Entry entry) {
      var task = entry.taskId();
      if (task == null) {
        return null;
      }
      if (entry.event() instanceof InternalRaw raw) {
        unused.put(task, raw);
        return null;
      }
      if (!usesLine(entry)
          || (entry.event() instanceof Usage usage && !reportsTokens(unused.get(task), usage))) {
        return null;
      }
      var raw = unused.remove(task);
      var text = InternalRaw.textOf(entry.event());
      return raw == null ? null : raw.line(text == null ? "" : text);
    }

    /// True if the line contains the number of tokens. Usage that only the final sums of a turn
    /// contain has no line.
    private static boolean reportsTokens(@Nullable InternalRaw raw, Usage usage) {
      var tokens = usage.outputTokens() > 0 ? usage.outputTokens() : usage.inputTokens();
      return raw != null
          && tokens > 0
          && Pattern.compile(":\\s*" + tokens + "(?![\\d.])").matcher(raw.line()).find();
    }

    private static boolean usesLine(Entry entry) {
      return switch (entry.event()) {
        case ContentComplete _ -> true;
        // The last line belongs to the end of the task, which follows.
        case ErrorReported error -> error.scope() != ErrorScope.TASK;
        default -> EntryNumbering.root(entry) != null;
      };
    }
  }
}
