package dev.parley.supervisor;

import dev.parley.agent.SubagentsTool;
import dev.parley.agent.SubtaskResults;
import dev.parley.agent.TaskHistory.StartedCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.SubtaskSpawner.SpawningCall;
import dev.parley.task.SubtaskSpawner.SubtaskRequest;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Creates the subtasks of a supervisor. The status that the task waits for them is in the same
/// append. The log has the call of `subagents` and the state `waiting-subtask` only if there are
/// several agents: the call groups them.
final class SupervisorSubtasks {

  private final TaskRun taskRun;
  private final RoutingDecision decision;
  private final SupervisorProgress progress;

  SupervisorSubtasks(TaskRun taskRun, RoutingDecision decision, SupervisorProgress progress) {
    this.taskRun = taskRun;
    this.decision = decision;
    this.progress = progress;
  }

  /// Creates the first subtask of a sequence, or all subtasks of another strategy. `message`
  /// describes the decision; null if the decision is in the log already.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if a limit is reached
  void startFirst(@Nullable String message) {
    var all = new ArrayList<SubtaskRequest>();
    for (var i = 0; i < decision.agents().size(); i++) {
      all.add(request(taskRun.sources().taskId(), i));
    }
    taskRun.spawner().checkFanOut(all.size());
    var sequential = decision.strategy() == RoutingStrategy.SEQUENTIAL;
    var first = sequential ? all.subList(0, 1) : all;
    var invocation = new InvocationId(taskRun.sources().ids().get());
    var start =
        decision.delegatesToOneAgent()
            ? null
            : SubagentsTool.start(
                taskRun, invocation, sequential ? Mode.SERIAL : Mode.PARALLEL, all);
    var routing = message == null ? null : decision.json();
    var ids = first.stream().map(SubtaskRequest::task).toList();
    var before = new ArrayList<Event>();
    if (start == null) {
      before.add(
          new TaskStatus(TaskState.WORKING, message, StatusFacts.ofDelegation(routing, ids)));
    } else {
      var decided = routing == null ? null : StatusFacts.ofRouting(routing);
      before.add(new TaskStatus(TaskState.WORKING, message, decided));
      before.add(start);
      before.add(waitsFor(ids));
    }
    var call = start == null ? taskRun.sources().toolCallId() : start.toolCallId();
    taskRun.spawner().spawn(taskRun, new SpawningCall(call, invocation, before), first);
    taskRun.reachFailPoint("spawned");
  }

  /// Creates the next subtask of a sequence. After a failure, writes the remaining subtasks as
  /// canceled instead. False if no subtask was started.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if a limit is reached
  boolean startNext() {
    var call = progress.openCall().map(StartedCall::start).orElse(null);
    var ids = call == null ? List.<TaskId>of() : taskIds(call);
    var index = progress.subtasks().size();
    if (call == null || index >= ids.size()) {
      return false;
    }
    var invocation = call.facts().invocationId().orElseThrow();
    if (progress.anyFailed()) {
      var skipped = new ArrayList<SubtaskRequest>();
      for (var i = index; i < ids.size(); i++) {
        skipped.add(request(ids.get(i), i));
      }
      taskRun
          .spawner()
          .createSkipped(
              taskRun,
              new SpawningCall(call.toolCallId(), invocation, List.of()),
              skipped,
              "a previous task did not succeed");
      progress.read(taskRun.readNewEntries());
      return false;
    }
    var next = List.of(ids.get(index));
    taskRun
        .spawner()
        .spawn(
            taskRun,
            new SpawningCall(call.toolCallId(), invocation, List.of(waitsFor(next))),
            List.of(request(next.getFirst(), index)));
    taskRun.reachFailPoint("spawned");
    return true;
  }

  private static TaskStatus waitsFor(List<TaskId> subtasks) {
    return new TaskStatus(
        TaskState.WAITING_SUBTASK, null, StatusFacts.ofWaitingForSubtasks(subtasks));
  }

  private static List<TaskId> taskIds(ToolStart call) {
    return call.subagentMetadata() == null ? List.of() : call.subagentMetadata().taskIds();
  }

  private SubtaskRequest request(TaskId id, int index) {
    var choice = decision.agents().get(index);
    var metadata = taskRun.created().facts().ofDelegate();
    if (index > 0 && decision.strategy() == RoutingStrategy.SEQUENTIAL) {
      var before = progress.ends().stream().map(end -> end.subtaskId()).toList();
      TaskFacts.putPreviousResults(metadata, SubtaskResults.of(taskRun).list(before));
    }
    return new SubtaskRequest(id, choice.agentId(), choice.taskDescription(), metadata);
  }

  /// The task waits again, for the subtasks that have not ended.
  TaskOutcome parked() {
    return decision.delegatesToOneAgent()
        ? new TaskOutcome.Parked(TaskState.WORKING, StatusFacts.ofDelegation(null, progress.open()))
        : new TaskOutcome.Parked(
            TaskState.WAITING_SUBTASK, StatusFacts.ofWaitingForSubtasks(progress.open()));
  }

  /// The task failed, with the results of the agents.
  TaskOutcome failed(ErrorCode code, String message, boolean retryable) {
    return new TaskOutcome.Failed(
        code,
        message,
        retryable,
        TaskEndFacts.ofRouting(decision.json(), SubtaskResults.of(taskRun).list()));
  }
}
