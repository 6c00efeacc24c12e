package dev.parley.door.agents;

import dev.parley.door.Stride;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.view.Numbering;
import dev.parley.view.Roots;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the entries of one agent's context in order, and numbers the agent's messages. For one
/// thread.
final class Telling {

  /// A position, and the number of the agent's last message before it.
  record Place(ContextId context, TaskId agent, Position position, long number) {

    /// The nearest position with a known number that is not above `since`, so that reading never
    /// starts at the beginning of a long log.
    static Place of(Roots roots, ContextId context, TaskId agent, long since) {
      var mark = roots.mark(context, agent, since);
      return new Place(context, agent, Position.of(mark.seq()), mark.number());
    }

    /// Another position of the same agent.
    Place at(Position elsewhere, long reached) {
      return new Place(context, agent, elsewhere, reached);
    }
  }

  /// An entry of the context. If it is a message of the agent, `number` is its own; else it is that
  /// of the message before. `raw` is the program's line that the entry comes from, if there is one.
  record Step(Entry entry, long number, boolean message, @Nullable String raw) {

    /// The same for a reader that may not read internal events.
    Step withoutRaw() {
      return new Step(entry, number, message, null);
    }
  }

  /// How many events before the start are read to find the line of the first message.
  private static final int BEFORE = 3;

  private static final int BEFORE_MAX = 256;

  private final EventLog log;
  private final Stride stride;
  private final ProgramLines lines = new ProgramLines();
  private boolean begun;
  private Place place;

  /// Reads entries after `from`.
  Telling(EventLog log, Stride stride, Place from) {
    this.log = log;
    this.stride = stride;
    this.place = from;
  }

  /// The position after the last entry that was read.
  Place place() {
    return place;
  }

  /// The next entries; empty at the end of the log.
  List<Step> read() {
    begin();
    var steps = new ArrayList<Step>();
    var number = place.number();
    for (var entry : stride.take(log.read(place.context(), place.position(), stride.next()))) {
      var message = place.agent().equals(Numbering.root(entry));
      number += message ? 1 : 0;
      steps.add(new Step(entry, number, message, lines.take(entry)));
    }
    if (!steps.isEmpty()) {
      place = place.at(steps.getLast().entry().position(), number);
    }
    return steps;
  }

  /// Reads the lines just before the start.
  private void begin() {
    if (begun) {
      return;
    }
    begun = true;
    var here = place.position();
    var before = Position.of(Math.max(0, here.seq() - BEFORE));
    if (!here.after(before)) {
      return;
    }
    for (var entry : log.read(place.context(), before, BEFORE_MAX)) {
      if (entry.position().after(here)) {
        return;
      }
      lines.take(entry);
    }
  }
}
