package dev.parley.client;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.TreeMap;

/// Makes a [Timeline] of events as they come.
///
/// Only what has come counts, not in which order, nor how often: a sub-agent's event that comes
/// before the call that spawned it is held, and finds its place when the call has come. Adding an
/// event is quick, [#timeline] looks at all of them. For one thread.
public final class TimelineFold {

  private final TreeMap<Position, Entry> entries = new TreeMap<>();

  /// Begins with no events.
  public TimelineFold() {}

  /// Takes in an event.
  public void add(Entry entry) {
    entries.putIfAbsent(entry.position(), entry);
  }

  /// The timeline of all events so far.
  public Timeline timeline() {
    return new Weaving(new Branches(entries.values())).timeline();
  }
}
