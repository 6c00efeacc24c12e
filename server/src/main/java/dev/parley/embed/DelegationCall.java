package dev.parley.embed;

import dev.parley.agent.AgentTool;
import dev.parley.agent.SubagentsTool;
import dev.parley.agent.TaskOutput;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.SubtaskSpawner;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// One call that delegates work to other agents in parallel and waits for all. Not thread-safe.
final class DelegationCall {

  private final TaskRun taskRun;
  private final List<DelegatedWork> work;
  private final ToolCallId call;
  private final List<TaskId> tasks;
  private final SubagentMetadata subagents;
  private final String tool;

  DelegationCall(TaskRun taskRun, List<DelegatedWork> work) {
    this.taskRun = taskRun;
    this.work = List.copyOf(work);
    this.call = taskRun.sources().toolCallId();
    this.tasks = work.stream().map(_ -> taskRun.sources().taskId()).toList();
    this.subagents = new SubagentMetadata(tasks, tasks.size(), Mode.PARALLEL);
    this.tool =
        work.size() == 1 ? new AgentTool(work.getFirst().agent(), "").name() : SubagentsTool.NAME;
  }

  /// Returns when all have ended, with their ends in the order of the work.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if an agent is unknown or a limit is reached
  List<SubtaskComplete> await() throws InterruptedException {
    taskRun.spawner().checkFanOut(work.size());
    var begun = taskRun.inspect(state -> state.head());
    var invocation = new InvocationId(taskRun.sources().ids().get());
    var children = new ArrayList<SubtaskSpawner.SubtaskRequest>();
    for (var i = 0; i < work.size(); i++) {
      children.add(
          new SubtaskSpawner.SubtaskRequest(
              tasks.get(i), work.get(i).agent(), work.get(i).prompt(), null));
    }
    taskRun
        .spawner()
        .spawn(
            taskRun,
            new SubtaskSpawner.SpawningCall(call, invocation, List.of(start(invocation))),
            children);
    var ends = new LinkedHashMap<TaskId, SubtaskComplete>();
    taskRun.waitFor(waiting(), begun, entry -> isLast(entry, ends));
    var inOrder = tasks.stream().map(ends::get).toList();
    TaskOutput.emit(taskRun, List.of(complete(inOrder)));
    return inOrder;
  }

  private boolean isLast(Entry entry, Map<TaskId, SubtaskComplete> ends) {
    if (entry.event() instanceof SubtaskComplete end && tasks.contains(end.subtaskId())) {
      ends.put(end.subtaskId(), end);
    }
    return ends.size() == tasks.size();
  }

  private ToolStart start(InvocationId invocation) {
    var provider = work.size() == 1 ? work.getFirst().agent().value() : "local";
    var metadata = ToolCallFacts.ofStart(provider, false, null);
    ToolCallFacts.putInvocationId(metadata, invocation);
    return new ToolStart(
        call,
        tool,
        arguments(),
        metadata,
        1,
        TaskOutput.idempotencyKey(taskRun, call),
        null,
        subagents);
  }

  private ObjectNode arguments() {
    if (work.size() == 1) {
      return Json.object().put("prompt", work.getFirst().prompt());
    }
    var arguments = Json.object().put("mode", Mode.PARALLEL.wire());
    var list = arguments.putArray("tasks");
    work.forEach(
        one -> list.addObject().put("agentId", one.agent().value()).put("prompt", one.prompt()));
    return arguments;
  }

  private TaskStatus waiting() {
    return new TaskStatus(TaskState.WAITING_SUBTASK, null, StatusFacts.ofWaitingForSubtasks(tasks));
  }

  private ToolComplete complete(List<SubtaskComplete> ends) {
    var result = Json.object();
    var results = result.putArray("results");
    for (var i = 0; i < ends.size(); i++) {
      var json =
          results
              .addObject()
              .put("agentId", work.get(i).agent().value())
              .put("taskId", ends.get(i).subtaskId().value())
              .put("status", ends.get(i).status().wire());
      if (ends.get(i).result() != null) {
        json.put("result", ends.get(i).result());
      }
      if (ends.get(i).error() != null) {
        json.put("error", ends.get(i).error());
      }
    }
    var success = ends.stream().anyMatch(end -> end.status() == TaskState.COMPLETED);
    var error = success ? null : "no sub-agent succeeded";
    return new ToolComplete(call, tool, success, result, error, null, null, subagents);
  }
}
