package dev.parley.client;

import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Some events of a context as the server sent them, and where the next page begins.
public record EventPage(List<ObjectNode> events, Position position, boolean hasMore) {

  static final String UNKNOWN_KIND = "unknown-kind";

  public EventPage {
    events = List.copyOf(events);
  }

  static EventPage of(ObjectNode answer) {
    var events = new ArrayList<ObjectNode>();
    for (var event : answer.path("events")) {
      if (!(event instanceof ObjectNode fields)) {
        throw new BadAnswer("an events page holds something that is not an object");
      }
      events.add(fields);
    }
    var position = answer.path("position");
    return new EventPage(
        events, Position.parse(position.asString("")), answer.path("hasMore").asBoolean(false));
  }

  /// The events as entries, without those of kinds that this client is too old to know.
  public List<Entry> entries() {
    var entries = new ArrayList<Entry>(events.size());
    for (var event : events) {
      try {
        entries.add(EventJson.entry(event));
      } catch (Rejection.Invalid unknown) {
        if (!unknown.code().equals(UNKNOWN_KIND)) {
          throw new BadAnswer("an events page holds what is not an event", unknown);
        }
      }
    }
    return entries;
  }
}
