package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/// The log of a context, which the fake server serves.
record ContextLogFixture(List<Entry> entries) {

  static final ContextId CONTEXT = new ContextId("c-1");
  static final TaskId TASK = new TaskId("t-1");

  ContextLogFixture {
    entries = List.copyOf(entries);
  }

  /// A log of deltas, some with characters of several bytes.
  static ContextLogFixture ofDeltas(int count) {
    var entries = new ArrayList<Entry>();
    for (var seq = 1; seq <= count; seq++) {
      var text =
          switch (seq % 4) {
            case 0 -> "wörd " + seq;
            case 1 -> "語 " + seq;
            case 2 -> "🦜\n" + seq;
            default -> " " + seq;
          };
      entries.add(entry(seq, new ContentDelta(text, seq - 1, new BlockId("b-1"))));
    }
    return new ContextLogFixture(entries);
  }

  static Entry entry(long seq, Event event) {
    return new Entry(
        CONTEXT,
        Position.of(seq),
        new UUID(0, seq),
        Instant.parse("2026-11-15T10:30:00.123Z").plusMillis(seq),
        Origin.root(TASK, new AgentTypeId("agent-code")),
        event);
  }

  static String frame(Entry entry) {
    return "id: %s\nevent: %s\ndata: %s\n\n"
        .formatted(entry.position(), entry.kind().sseName(), EventJson.text(entry));
  }

  static String open(String position, long heartbeatMs) {
    return "event: stream-open\n"
        + "data: {\"kind\":\"stream-open\",\"contextId\":\"c-1\",\"position\":\""
        + position
        + "\",\"heartbeatMs\":"
        + heartbeatMs
        + "}\n\n";
  }

  String frames(long from, long to) {
    return entries.subList((int) from - 1, (int) to).stream()
        .map(ContextLogFixture::frame)
        .collect(Collectors.joining());
  }

  /// The reply to `GET …/events?after=&limit=`.
  String page(long after, int limit) {
    var end = Math.min(entries.size(), after + limit);
    var events =
        entries.subList((int) after, (int) end).stream()
            .map(EventJson::text)
            .collect(Collectors.joining(","));
    return "{\"events\":[%s],\"position\":\"%d\",\"hasMore\":%b}"
        .formatted(events, end, end < entries.size());
  }
}
