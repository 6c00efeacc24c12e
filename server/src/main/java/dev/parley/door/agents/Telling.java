package dev.parley.door.agents;

import dev.parley.door.Stride;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.view.Numbering;
import dev.parley.view.Roots;
import java.util.ArrayList;
import java.util.List;

/// Reads the story of one agent in its order, and counts.
///
/// Begins at the nearest place whose number is known, never at the beginning of a long story. For one
/// thread.
final class Telling {

  /// An entry of the context. If it is a message of the agent, `number` is its own; else it is that of the
  /// message before.
  record Step(Entry entry, long number, boolean message) {}

  /// Where entries come from.
  @FunctionalInterface
  interface Pages {

    /// Some entries that follow `after`, about `limit` of them. Empty at the end.
    List<Entry> read(ContextId context, Position after, int limit);
  }

  private final Pages pages;
  private final ContextId context;
  private final TaskId agent;
  private final Stride stride = new Stride();
  private Position position;
  private long number;

  /// Will read on after some message whose number is not above `since`.
  Telling(Pages pages, Roots roots, ContextId context, TaskId agent, long since) {
    this.pages = pages;
    this.context = context;
    this.agent = agent;
    var mark = roots.mark(context, agent, since);
    this.position = Position.of(mark.seq());
    this.number = mark.number();
  }

  /// Where the last entry stood that was read.
  Position position() {
    return position;
  }

  /// What is next; empty at the end of the log.
  List<Step> read() {
    var steps = new ArrayList<Step>();
    for (var entry : stride.take(pages.read(context, position, stride.next()))) {
      var message = agent.equals(Numbering.root(entry));
      number += message ? 1 : 0;
      steps.add(new Step(entry, number, message));
      position = entry.position();
    }
    return steps;
  }

  /// Goes on after `seq`, up to which messages have numbers up to `reached`.
  void jump(long reached, long seq) {
    number = reached;
    position = Position.of(seq);
  }
}
