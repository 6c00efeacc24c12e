package dev.parley.api.agents;

import dev.parley.http.ReadSize;
import dev.parley.log.EventLog;
import dev.parley.projection.EntryNumbering;
import dev.parley.projection.RootTaskQueries;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the entries of one agent's context in order, and numbers the agent's messages. For one
/// thread.
final class NumberedReader {

  /// A position, and the number of the agent's last message before it.
  record NumberedPosition(ContextId context, TaskId agent, Position position, long number) {

    /// The nearest position with a known number that is not above `since`, so that reading never
    /// starts at the beginning of a long log.
    static NumberedPosition of(
        RootTaskQueries rootTaskQueries, ContextId context, TaskId agent, long since) {
      var mark = rootTaskQueries.countingStart(context, agent, since);
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
  private NumberedPosition numberedPosition;

  /// Reads entries after `from`.
  NumberedReader(EventLog log, ReadSize readSize, NumberedPosition from) {
    this.log = log;
    this.readSize = readSize;
    this.numberedPosition = from;
  }

  /// The position after the last entry that was read.
  NumberedPosition place() {
    return numberedPosition;
  }

  /// The next entries; empty at the end of the log.
  List<NumberedEntry> read() {
    readLinesBefore();
    var steps = new ArrayList<NumberedEntry>();
    var number = numberedPosition.number();
    for (var entry :
        readSize.truncate(
            log.read(numberedPosition.context(), numberedPosition.position(), readSize.next()))) {
      var message = numberedPosition.agent().equals(EntryNumbering.root(entry));
      number += message ? 1 : 0;
      steps.add(new NumberedEntry(entry, number, message, lines.take(entry)));
    }
    if (!steps.isEmpty()) {
      numberedPosition = numberedPosition.at(steps.getLast().entry().position(), number);
    }
    return steps;
  }

  /// Reads the lines just before the start.
  private void readLinesBefore() {
    if (begun) {
      return;
    }
    begun = true;
    var here = numberedPosition.position();
    var before = Position.of(Math.max(0, here.seq() - BEFORE));
    if (!here.after(before)) {
      return;
    }
    for (var entry : log.read(numberedPosition.context(), before, BEFORE_MAX)) {
      if (entry.position().after(here)) {
        return;
      }
      lines.take(entry);
    }
  }
}
