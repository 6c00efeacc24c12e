package dev.parley.app;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// Makes entries for tests: numbered from 1, a tenth of a second apart.
final class Events {

  static final ContextId CONTEXT = new ContextId("c-1");
  static final TaskId TASK = new TaskId("task-0001");

  private final List<Entry> entries = new ArrayList<>();

  static List<Entry> of(Event... events) {
    var made = new Events();
    for (var event : events) {
      made.add(TASK, event);
    }
    return made.entries;
  }

  private void add(TaskId task, Event event) {
    var seq = entries.size() + 1L;
    entries.add(
        new Entry(
            CONTEXT,
            Position.of(seq),
            new UUID(0, seq),
            Instant.parse("2026-11-15T10:30:00.000Z").plusMillis(seq * 100),
            Origin.root(task, new AgentTypeId("agent-code")),
            event));
  }
}
