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
  /// message before.
  record Step(Entry entry, long number, boolean message) {}

  private final EventLog log;
  private final Stride stride;
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
    var steps = new ArrayList<Step>();
    var number = place.number();
    for (var entry : stride.take(log.read(place.context(), place.position(), stride.next()))) {
      var message = place.agent().equals(Numbering.root(entry));
      number += message ? 1 : 0;
      steps.add(new Step(entry, number, message));
    }
    if (!steps.isEmpty()) {
      place = place.at(steps.getLast().entry().position(), number);
    }
    return steps;
  }
}
