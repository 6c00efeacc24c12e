package dev.parley.client;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.TreeMap;

/// Builds a [Timeline] from events as they arrive.
///
/// Order and duplicates do not matter: an event of a sub-agent that arrives before the call that
/// spawned it gets its place when the call arrives. Adding an event is fast; [#timeline] processes
/// all events. For one thread.
public final class TimelineFold {

  private final TreeMap<Position, Entry> entries = new TreeMap<>();

  /// Starts without events.
  public TimelineFold() {}

  /// Adds an event.
  public void add(Entry entry) {
    entries.putIfAbsent(entry.position(), entry);
  }

  /// The timeline of all events so far.
  public Timeline timeline() {
    return new TimelineBuilder(new SubagentEvents(entries.values())).timeline();
  }
}
