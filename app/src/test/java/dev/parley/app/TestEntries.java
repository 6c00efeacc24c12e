package dev.parley.app;

import dev.parley.protocol.AgentLevel;
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

/// Creates entries for tests: numbered from 1, a tenth of a second apart.
final class TestEntries {

  static final ContextId CONTEXT = new ContextId("c-1");
  static final TaskId TASK = new TaskId("task-0001");

  private final List<Entry> entries = new ArrayList<>();

  static List<Entry> of(Event... events) {
    var made = new TestEntries();
    for (var event : events) {
      made.add(TASK, event);
    }
    return made.entries;
  }

  static TestEntries talk() {
    return new TestEntries();
  }

  List<Entry> entries() {
    return entries;
  }

  TestEntries add(Event event) {
    add(TASK, event);
    return this;
  }

  /// An event of a sub-agent of the task.
  TestEntries add(String subtask, Event event) {
    return add(TASK.value(), subtask, event);
  }

  /// An event of a sub-agent of another sub-agent.
  TestEntries add(String parent, String subtask, Event event) {
    add(
        new Origin(
            new TaskId(subtask),
            new TaskId(parent),
            TASK,
            new AgentTypeId("worker"),
            AgentLevel.SUBAGENT,
            null,
            null,
            null),
        event);
    return this;
  }

  private void add(TaskId task, Event event) {
    add(Origin.root(task, new AgentTypeId("agent-code")), event);
  }

  private void add(Origin origin, Event event) {
    var seq = entries.size() + 1L;
    entries.add(
        new Entry(
            CONTEXT,
            Position.of(seq),
            new UUID(0, seq),
            Instant.parse("2026-11-15T10:30:00.000Z").plusMillis(seq * 100),
            origin,
            event));
  }
}
