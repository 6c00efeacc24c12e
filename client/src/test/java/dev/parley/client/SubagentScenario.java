package dev.parley.client;

import dev.parley.client.Timeline.Item;
import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.client.Timeline.SubagentThread;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Builds the events of a root task, `core`, and its sub-agents.
final class SubagentScenario {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final TaskId CORE = new TaskId("core");
  private static final AgentTypeId AGENT = new AgentTypeId("agent");

  private final List<Entry> entries = new ArrayList<>();

  static ToolStart call(String id, String tool) {
    return new ToolStart(new ToolCallId(id), tool, Json.object(), null, null, null, null, null);
  }

  SubagentScenario core(String text) {
    return core(new ContentDelta(text, 0, new BlockId("b")));
  }

  SubagentScenario core(Event event) {
    return add(Origin.root(CORE, AGENT), event);
  }

  /// The root task calls its sub-agents.
  SubagentScenario spawn(String call, String... tasks) {
    return add(Origin.root(CORE, AGENT), start(call, tasks));
  }

  /// A sub-agent of `parent`, spawned by `byCall`, calls its own sub-agents.
  SubagentScenario nest(String task, String parent, String byCall, String call, String child) {
    return add(origin(task, parent, byCall), start(call, child));
  }

  SubagentScenario end(String call) {
    var id = new ToolCallId(call);
    return core(new ToolComplete(id, "subagents", true, null, null, null, null, null));
  }

  SubagentScenario sub(String task, String call, String text) {
    return sub(task, "core", call, text);
  }

  SubagentScenario sub(String task, String parent, String call, String text) {
    return add(origin(task, parent, call), new ContentDelta(text, 0, new BlockId("b")));
  }

  SubagentScenario legacy(String task, String text) {
    return add(origin(task, "core", null), new ContentDelta(text, 0, new BlockId("b")));
  }

  SubagentScenario status(String task, String call, TaskState state) {
    return add(origin(task, "core", call), new TaskStatus(state, null, null));
  }

  SubagentScenario usage(String task, String call, long tokens) {
    return usage(task, "core", call, tokens);
  }

  SubagentScenario usage(String task, String parent, String call, long tokens) {
    return add(origin(task, parent, call), new Usage("m", tokens - 1, 1, null, null, null));
  }

  SubagentScenario tool(String task, String call) {
    return tool(task, "core", call);
  }

  SubagentScenario tool(String task, String parent, String call) {
    return add(origin(task, parent, call), call(task + "-tool", "calculator"));
  }

  List<Entry> entries() {
    return List.copyOf(entries);
  }

  Timeline timeline() {
    return Timeline.of(entries);
  }

  SubagentGroup group(int index) {
    return (SubagentGroup)
        timeline().items().stream().filter(SubagentGroup.class::isInstance).toList().get(index);
  }

  /// The groups as text: their call, their threads, and the text of each thread.
  List<String> groups() {
    return timeline().items().stream()
        .filter(SubagentGroup.class::isInstance)
        .map(SubagentScenario::text)
        .toList();
  }

  private static String text(Item item) {
    return switch (item) {
      case Plain(var entry) ->
          entry.event() instanceof ContentDelta delta ? delta.delta() : entry.kind().wire();
      case SubagentGroup(var trigger, var threads, _) ->
          name(trigger.event())
              + ": "
              + threads.stream().map(SubagentScenario::text).collect(Collectors.joining(" "));
    };
  }

  private static String text(SubagentThread thread) {
    return thread.items().stream()
        .map(item -> item instanceof SubagentGroup ? "{" + text(item) + "}" : text(item))
        .collect(Collectors.joining(", ", thread.taskId() + "[", "]"));
  }

  private static String name(Event trigger) {
    return switch (trigger) {
      case ToolStart start -> start.toolCallId().value();
      case ToolComplete end -> end.toolCallId().value();
      case SubtaskCreated created -> created.subtaskId().value();
      default -> throw new AssertionError(trigger);
    };
  }

  private static ToolStart start(String call, String... tasks) {
    var ids = Arrays.stream(tasks).map(TaskId::new).toList();
    var metadata = new SubagentMetadata(ids, ids.size(), Mode.PARALLEL);
    return new ToolStart(
        new ToolCallId(call), "subagents", Json.object(), null, null, null, null, metadata);
  }

  private static Origin origin(String task, String parent, @Nullable String call) {
    return new Origin(
        new TaskId(task),
        new TaskId(parent),
        CORE,
        AGENT,
        AgentLevel.SUBAGENT,
        null,
        call == null ? null : new ToolCallId(call),
        null);
  }

  private SubagentScenario add(Origin origin, Event event) {
    var seq = entries.size() + 1;
    entries.add(
        new Entry(CONTEXT, Position.of(seq), new UUID(0, seq), Instant.EPOCH, origin, event));
    return this;
  }
}
