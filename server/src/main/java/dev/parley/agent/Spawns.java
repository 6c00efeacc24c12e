package dev.parley.agent;

import dev.parley.agent.SpawnTool.Ended;
import dev.parley.agent.SpawnTool.Job;
import dev.parley.agent.SpawnTool.Jobs;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Run;
import dev.parley.task.Spawner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Starts the subtasks of a call, in parallel or in sequence. Not thread-safe.
public final class Spawns {

  /// In the metadata of the call's start: the id that its subtasks share.
  static final String INVOCATION_ID = "invocationId";

  /// In the metadata of a task: the results of the previous tasks of the same call.
  static final String PREVIOUS_RESULTS = "previousResults";

  private final Run run;
  private final @Nullable ObjectNode metadata;

  /// `metadata` is added to every subtask.
  Spawns(Run run, @Nullable ObjectNode metadata) {
    this.run = run;
    this.metadata = metadata;
  }

  /// Appends the call's start and its first subtasks, in one append.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if a limit is reached
  void begin(ToolStart start, Jobs jobs) {
    run.spawner().checkFanOut(jobs.list().size());
    var ids = jobs.list().stream().map(_ -> run.sources().taskId()).toList();
    var invocation = new InvocationId(run.sources().ids().get());
    var about = start.metadata() == null ? Json.object() : start.metadata().deepCopy();
    about.put(INVOCATION_ID, invocation.value());
    var spawning =
        new ToolStart(
            start.toolCallId(),
            start.toolName(),
            start.arguments(),
            about,
            start.attempt(),
            start.key(),
            start.epoch(),
            new SubagentMetadata(ids, ids.size(), jobs.mode()));
    var first = jobs.mode() == Mode.PARALLEL ? ids.size() : 1;
    var children = new ArrayList<Spawner.Child>();
    for (var i = 0; i < first; i++) {
      children.add(child(ids.get(i), jobs.list().get(i), List.of()));
    }
    var call = new Spawner.Call(start.toolCallId(), invocation, List.of(spawning));
    run.spawner().spawn(run, call, children);
    run.reach("spawned");
  }

  /// The jobs of a started call that have ended, in their order.
  static List<Ended> ended(CallStory call, Jobs jobs) {
    var ids = call.subagents().map(SubagentMetadata::taskIds).orElse(List.of());
    var ended = new ArrayList<Ended>();
    for (var i = 0; i < ids.size() && i < jobs.list().size(); i++) {
      var end = call.children().get(ids.get(i));
      if (end != null && end.isPresent()) {
        ended.add(new Ended(jobs.list().get(i), end.get()));
      }
    }
    return ended;
  }

  /// Starts the next subtask of a sequential call; skips the rest after a failure. False if there
  /// is nothing to do.
  boolean next(CallStory call, Jobs jobs) {
    var ids = call.subagents().map(SubagentMetadata::taskIds).orElse(List.of());
    var ended = ended(call, jobs);
    if (ended.size() != call.children().size() || ended.size() == ids.size()) {
      return false;
    }
    var spawning =
        new Spawner.Call(call.call().id(), new InvocationId(invocation(call)), List.of());
    if (ended.stream().allMatch(one -> one.end().status() == TaskState.COMPLETED)) {
      var index = ended.size();
      run.spawner()
          .spawn(run, spawning, List.of(child(ids.get(index), jobs.list().get(index), ended)));
      run.reach("spawned");
    } else {
      var skipped = new ArrayList<Spawner.Child>();
      for (var i = ended.size(); i < ids.size(); i++) {
        skipped.add(child(ids.get(i), jobs.list().get(i), List.of()));
      }
      run.spawner().skip(run, spawning, skipped, "a previous task did not succeed");
    }
    return true;
  }

  private static String invocation(CallStory call) {
    return call.startMetadata().path(INVOCATION_ID).asString();
  }

  private Spawner.Child child(TaskId id, Job job, List<Ended> before) {
    var about = metadata == null ? Json.object() : metadata.deepCopy();
    if (!before.isEmpty()) {
      var tasks = before.stream().map(one -> one.end().subtaskId()).toList();
      about.putArray(PREVIOUS_RESULTS).addAll(AgentResults.of(run).list(tasks));
    }
    return new Spawner.Child(id, job.agent(), job.prompt(), about.isEmpty() ? null : about);
  }
}
