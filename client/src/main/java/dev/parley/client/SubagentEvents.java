package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Groups events by sub-agent, and indexes the calls that spawn sub-agents.
final class SubagentEvents {

  private final List<Entry> main = new ArrayList<>();
  private final Map<TaskId, SubagentBranch> subtasks = new LinkedHashMap<>();
  private final Map<ToolCallKey, SubagentCall> calls = new LinkedHashMap<>();
  private final Map<TaskId, AnnouncedSubtask> created = new LinkedHashMap<>();
  private final Map<TaskId, TaskState> ended = new HashMap<>();

  /// A call of a tool by a task.
  record ToolCallKey(TaskId task, ToolCallId id) {}

  /// The first known event of a call, and its metadata about the sub-agents that it spawns.
  record SubagentCall(Position at, String tool, @Nullable SubagentMetadata metadata) {}

  /// The event with which a task creates a sub-agent.
  record AnnouncedSubtask(TaskId parent, Position at, @Nullable AgentTypeId agent) {}

  /// The events of one sub-agent, without those of its own sub-agents.
  record SubagentBranch(Origin origin, TaskId parent, List<Entry> entries) {
    TaskId task() {
      return origin.taskId();
    }

    Position first() {
      return entries.getFirst().position();
    }
  }

  /// Groups entries that are in order.
  SubagentEvents(Collection<Entry> entries) {
    entries.forEach(this::add);
  }

  List<Entry> main() {
    return main;
  }

  /// Sub-agents with events, in the order of their first event.
  Collection<SubagentBranch> subtasks() {
    return subtasks.values();
  }

  /// Calls in the order in which they began.
  Map<ToolCallKey, SubagentCall> calls() {
    return calls;
  }

  /// Sub-agents that were created, in that order.
  Map<TaskId, AnnouncedSubtask> created() {
    return created;
  }

  /// The sub-agent metadata of the call that begins with this entry.
  @Nullable SubagentMetadata announced(Entry entry) {
    var task = entry.taskId();
    var id =
        switch (entry.event()) {
          case ToolStart start -> start.toolCallId();
          case ToolComplete end -> end.toolCallId();
          default -> null; // Nothing else announces sub-agents.
        };
    var call = task == null || id == null ? null : calls.get(new ToolCallKey(task, id));
    return call == null || !call.at().equals(entry.position()) ? null : call.metadata();
  }

  /// The sub-agent, if it has events.
  @Nullable SubagentBranch find(TaskId task) {
    return subtasks.get(task);
  }

  List<Entry> entries(TaskId task) {
    var subagentBranch = subtasks.get(task);
    return subagentBranch == null ? List.of() : subagentBranch.entries();
  }

  /// The agent of the task. Events of some kinds have no agent on the wire.
  @Nullable AgentTypeId agent(TaskId task) {
    var asked = created.get(task);
    if (asked != null && asked.agent() != null) {
      return asked.agent();
    }
    return entries(task).stream()
        .filter(entry -> entry.event() instanceof TaskCreated)
        .findFirst()
        .or(() -> entries(task).stream().findFirst())
        .map(entry -> entry.origin() == null ? null : entry.origin().agentId())
        .orElse(null);
  }

  /// The state of the task, by its own events or else by those of its parent.
  TaskState status(TaskId task) {
    var status = TaskState.SUBMITTED;
    for (var entry : entries(task)) {
      status =
          switch (entry.event()) {
            case TaskStatus(var next, _, _) -> next;
            case TaskComplete _ -> TaskState.COMPLETED;
            default -> status; // Other events do not change the state.
          };
    }
    return status.terminal() ? status : ended.getOrDefault(task, status);
  }

  private void add(Entry entry) {
    var origin = entry.origin();
    if (origin == null || origin.parentTaskId() == null) {
      main.add(entry);
    } else {
      var parent = origin.parentTaskId();
      subtasks
          .computeIfAbsent(
              origin.taskId(), _ -> new SubagentBranch(origin, parent, new ArrayList<>()))
          .entries()
          .add(entry);
    }
    if (origin != null) {
      index(origin.taskId(), entry);
    }
  }

  private void index(TaskId task, Entry entry) {
    var at = entry.position();
    switch (entry.event()) {
      case ToolStart start ->
          index(
              new ToolCallKey(task, start.toolCallId()),
              new SubagentCall(at, start.toolName(), start.subagentMetadata()));
      case ToolComplete end ->
          index(
              new ToolCallKey(task, end.toolCallId()),
              new SubagentCall(at, end.toolName(), end.subagentMetadata()));
      case SubtaskCreated made ->
          created.putIfAbsent(made.subtaskId(), new AnnouncedSubtask(task, at, made.agentId()));
      case SubtaskComplete end -> ended.put(end.subtaskId(), end.status());
      default -> {} // Other events do not refer to other tasks.
    }
  }

  private void index(ToolCallKey toolCallKey, SubagentCall subagentCall) {
    calls.merge(
        toolCallKey,
        subagentCall,
        (first, later) ->
            new SubagentCall(
                first.at(),
                first.tool(),
                later.metadata() == null ? first.metadata() : later.metadata()));
  }
}
