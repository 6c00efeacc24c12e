package dev.parley.agent;

import dev.parley.agent.SpawnTool.EndedJob;
import dev.parley.agent.SpawnTool.SubagentJob;
import dev.parley.agent.SpawnTool.SubagentJobs;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.SubtaskSpawner;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;

/// Starts the subtasks of a call, in parallel or in sequence. Not thread-safe.
final class SubtaskCalls {

  private final TaskRun taskRun;

  SubtaskCalls(TaskRun taskRun) {
    this.taskRun = taskRun;
  }

  /// Appends the call's start and its first subtasks, in one append.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if a limit is reached
  void start(ToolStart start, SubagentJobs subagentJobs) {
    taskRun.spawner().checkFanOut(subagentJobs.list().size());
    var ids = subagentJobs.list().stream().map(_ -> taskRun.sources().taskId()).toList();
    var invocation = new InvocationId(taskRun.sources().ids().get());
    var about = start.metadata() == null ? Json.object() : start.metadata().deepCopy();
    ToolCallFacts.putInvocationId(about, invocation);
    var spawning =
        new ToolStart(
            start.toolCallId(),
            start.toolName(),
            start.arguments(),
            about,
            start.attempt(),
            start.key(),
            start.epoch(),
            new SubagentMetadata(ids, ids.size(), subagentJobs.mode()));
    var first = subagentJobs.mode() == Mode.PARALLEL ? ids.size() : 1;
    var children = new ArrayList<SubtaskSpawner.SubtaskRequest>();
    for (var i = 0; i < first; i++) {
      children.add(child(ids.get(i), subagentJobs.list().get(i), List.of()));
    }
    var spawningCall =
        new SubtaskSpawner.SpawningCall(start.toolCallId(), invocation, List.of(spawning));
    taskRun.spawner().spawn(taskRun, spawningCall, children);
    taskRun.reachFailPoint("spawned");
  }

  /// The jobs of a started call that have ended, in their order.
  static List<EndedJob> endedJobs(ToolCallHistory call, SubagentJobs subagentJobs) {
    var ids = call.subagents().map(SubagentMetadata::taskIds).orElse(List.of());
    var ended = new ArrayList<EndedJob>();
    for (var i = 0; i < ids.size() && i < subagentJobs.list().size(); i++) {
      var end = call.children().get(ids.get(i));
      if (end != null && end.isPresent()) {
        ended.add(new EndedJob(subagentJobs.list().get(i), end.get()));
      }
    }
    return ended;
  }

  /// Starts the next subtask of a sequential call; skips the rest after a failure. False if there
  /// is nothing to do.
  boolean startNext(ToolCallHistory call, SubagentJobs subagentJobs) {
    var ids = call.subagents().map(SubagentMetadata::taskIds).orElse(List.of());
    var ended = endedJobs(call, subagentJobs);
    if (ended.size() != call.children().size() || ended.size() == ids.size()) {
      return false;
    }
    var spawning =
        new SubtaskSpawner.SpawningCall(
            call.call().id(), call.invocationId().orElseThrow(), List.of());
    if (ended.stream().allMatch(one -> one.end().status() == TaskState.COMPLETED)) {
      var index = ended.size();
      taskRun
          .spawner()
          .spawn(
              taskRun,
              spawning,
              List.of(child(ids.get(index), subagentJobs.list().get(index), ended)));
      taskRun.reachFailPoint("spawned");
    } else {
      var skipped = new ArrayList<SubtaskSpawner.SubtaskRequest>();
      for (var i = ended.size(); i < ids.size(); i++) {
        skipped.add(child(ids.get(i), subagentJobs.list().get(i), List.of()));
      }
      taskRun
          .spawner()
          .createSkipped(taskRun, spawning, skipped, "a previous task did not succeed");
    }
    return true;
  }

  private SubtaskSpawner.SubtaskRequest child(
      TaskId id, SubagentJob subagentJob, List<EndedJob> before) {
    var about = Json.object();
    if (!before.isEmpty()) {
      var tasks = before.stream().map(one -> one.end().subtaskId()).toList();
      TaskFacts.putPreviousResults(about, SubtaskResults.of(taskRun).list(tasks));
    }
    return new SubtaskSpawner.SubtaskRequest(
        id, subagentJob.agent(), subagentJob.prompt(), about.isEmpty() ? null : about);
  }
}
