package dev.parley.client;

import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A page of events as the server sent them, and the position after which the next page begins.
public record EventPage(List<ObjectNode> events, Position position, boolean hasMore) {

  public EventPage {
    events = List.copyOf(events);
  }

  static EventPage of(ObjectNode answer) {
    var events = new ArrayList<ObjectNode>();
    for (var event : answer.path("events")) {
      if (!(event instanceof ObjectNode fields)) {
        throw new BadAnswer("a page of events contains a value that is not an object");
      }
      events.add(fields);
    }
    var position = answer.path("position");
    return new EventPage(
        events, Position.parse(position.asString("")), answer.path("hasMore").asBoolean(false));
  }

  /// The events as entries, without those of kinds that this client does not know.
  public List<Entry> entries() {
    var entries = new ArrayList<Entry>(events.size());
    for (var event : events) {
      var entry = entry(event);
      if (entry != null) {
        entries.add(entry);
      }
    }
    return entries;
  }

  /// The entry with these fields, or null if this client does not know its kind.
  static @Nullable Entry entry(ObjectNode fields) {
    var kind = fields.path("kind").asString("");
    if (!kind.isEmpty() && Kind.find(kind).isEmpty()) {
      return null;
    }
    try {
      return EventJson.entry(fields);
    } catch (Rejection.Invalid misfit) {
      throw new BadAnswer("the server sent an invalid event: " + misfit.getMessage(), misfit);
    }
  }
}
