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

/// Reads the story of one agent in its order, and counts. For one thread.
final class Telling {

  /// A place in the story of an agent: up to `position`, its messages have numbers up to `number`.
  record Place(ContextId context, TaskId agent, Position position, long number) {

    /// After some message whose number is not above `since`: the nearest place whose number is known,
    /// never the beginning of a long story.
    static Place of(Roots roots, ContextId context, TaskId agent, long since) {
      var mark = roots.mark(context, agent, since);
      return new Place(context, agent, Position.of(mark.seq()), mark.number());
    }

    /// Another place in the same story.
    Place at(Position elsewhere, long reached) {
      return new Place(context, agent, elsewhere, reached);
    }
  }

  /// An entry of the context. If it is a message of the agent, `number` is its own; else it is that of the
  /// message before. `raw` is the line of a program that the entry was made of, if there is one.
  record Step(Entry entry, long number, boolean message, @Nullable String raw) {

    /// The same for a reader who may not read internal events.
    Step withoutRaw() {
      return new Step(entry, number, message, null);
    }
  }

  /// How far before its beginning a story is read to find the line that its first message was made of.
  private static final int BEFORE = 3;

  private static final int BEFORE_MAX = 256;

  private final EventLog log;
  private final Stride stride;
  private final ProgramLines lines = new ProgramLines();
  private boolean begun;
  private Place place;

  /// Will read on after `from`.
  Telling(EventLog log, Stride stride, Place from) {
    this.log = log;
    this.stride = stride;
    this.place = from;
  }

  /// Behind the last entry that was read.
  Place place() {
    return place;
  }

  /// What is next; empty at the end of the log.
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

  /// Takes in the lines that stand just before the place.
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
