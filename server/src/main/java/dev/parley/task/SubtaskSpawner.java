package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.Event;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Creates subtasks, within the limits of a task tree.
public final class SubtaskSpawner {

  /// A subtask for another agent.
  public record SubtaskRequest(
      TaskId task, AgentTypeId agent, String prompt, @Nullable ObjectNode metadata) {}

  /// The tool call that spawns subtasks, and the events to append right before them.
  public record SpawningCall(
      ToolCallId id, InvocationId invocation, List<? extends Event> before) {}

  private final EventLog log;
  private final AgentDirectory agentDirectory;
  private final TaskLimits.TreeLimits limits;

  SubtaskSpawner(EventLog log, AgentDirectory agentDirectory, TaskLimits.TreeLimits limits) {
    this.log = log;
    this.agentDirectory = agentDirectory;
    this.limits = limits;
  }

  /// Appends the subtasks, in one append with the events before them, and starts them.
  ///
  /// @throws Rejection.Invalid if an agent is unknown or a limit is reached
  public void spawn(TaskRun taskRun, SpawningCall spawningCall, List<SubtaskRequest> children) {
    children.forEach(subtaskRequest -> agentDirectory.resolve(subtaskRequest.agent()));
    taskRun
        .controls()
        .exceeded(EnumSet.of(BudgetResource.TASKS))
        .ifPresent(
            why -> {
              throw new Rejection.Invalid("limit", why);
            });
    log.append(
        taskRun.context(),
        AppendGuard.none(),
        state -> drafts(state, taskRun, spawningCall, children));
    taskRun.reachFailPoint("children-written");
    taskRun.advance();
  }

  /// Appends subtasks that will never run, each with its end, so that the log has all subtasks of
  /// the call.
  public void createSkipped(
      TaskRun taskRun, SpawningCall spawningCall, List<SubtaskRequest> children, String reason) {
    log.append(
        taskRun.context(),
        AppendGuard.none(),
        state -> {
          var drafts = new ArrayList<>(drafts(state, taskRun, spawningCall, children));
          for (var subtaskRequest : children) {
            var metadata = StatusFacts.ofEnd(reason);
            drafts.add(
                new EventDraft(
                    origin(taskRun.origin(), spawningCall, subtaskRequest),
                    new TaskStatus(TaskState.CANCELED, null, metadata)));
            drafts.add(
                new EventDraft(
                    taskRun.origin(),
                    new SubtaskComplete(subtaskRequest.task(), TaskState.CANCELED, null, reason)));
          }
          return drafts;
        });
  }

  /// Appends a subtask that the agent of `run` runs itself, with the status `working`.
  ///
  /// @throws Rejection.Invalid if a limit is reached
  public HostedSubtask createHosted(
      TaskRun taskRun, SpawningCall spawningCall, SubtaskRequest subtaskRequest) {
    var metadata =
        subtaskRequest.metadata() == null ? Json.object() : subtaskRequest.metadata().deepCopy();
    TaskFacts.putHosted(metadata);
    var hosted =
        new SubtaskRequest(
            subtaskRequest.task(), subtaskRequest.agent(), subtaskRequest.prompt(), metadata);
    var origin = origin(taskRun.origin(), spawningCall, hosted);
    log.append(
        taskRun.context(),
        AppendGuard.none(),
        state -> {
          var drafts = new ArrayList<>(drafts(state, taskRun, spawningCall, List.of(hosted)));
          drafts.add(new EventDraft(origin, new TaskStatus(TaskState.WORKING, null, null)));
          return drafts;
        });
    return new HostedSubtask(log, taskRun.context(), origin, taskRun.sources().time());
  }

  /// Rejects a batch that is too large.
  ///
  /// @throws Rejection.Invalid if it is too large
  public void checkFanOut(int count) {
    if (count > limits.maxFanOut()) {
      throw new Rejection.Invalid(
          "limit", "one call spawns at most " + limits.maxFanOut() + " sub-agents, not " + count);
    }
  }

  private List<EventDraft> drafts(
      ContextState state,
      TaskRun taskRun,
      SpawningCall spawningCall,
      List<SubtaskRequest> children) {
    var parent =
        state
            .openTask(taskRun.taskId())
            .filter(task -> !task.cancelRequested() && !taskRun.fenced())
            .orElseThrow(
                () ->
                    new Rejection.Conflict(
                        "task-ended", "the task is ending: " + taskRun.taskId()));
    ContextSchedule.checkTurn(state, parent);
    checkLimits(state, parent, children.size());
    var drafts = new ArrayList<EventDraft>();
    spawningCall.before().forEach(event -> drafts.add(new EventDraft(taskRun.origin(), event)));
    for (var subtaskRequest : children) {
      drafts.add(
          new EventDraft(
              taskRun.origin(),
              new SubtaskCreated(
                  subtaskRequest.task(), subtaskRequest.agent(), subtaskRequest.prompt())));
      drafts.add(
          new EventDraft(
              origin(taskRun.origin(), spawningCall, subtaskRequest),
              created(taskRun.created(), subtaskRequest)));
    }
    return drafts;
  }

  private void checkLimits(ContextState state, OpenTask parent, int count) {
    if (ContextSchedule.depth(state, parent) + 1 > limits.maxDepth()) {
      throw new Rejection.Invalid(
          "limit", "sub-agents may be nested at most " + limits.maxDepth() + " levels deep");
    }
    var root = state.openTask(parent.origin().rootTaskId()).orElse(parent);
    if (root.descendants() + count > limits.maxSubtasks()) {
      throw new Rejection.Invalid(
          "limit", "a task may have at most " + limits.maxSubtasks() + " sub-agents in all");
    }
  }

  private static Origin origin(
      Origin parent, SpawningCall spawningCall, SubtaskRequest subtaskRequest) {
    return new Origin(
        subtaskRequest.task(),
        parent.taskId(),
        parent.rootTaskId(),
        subtaskRequest.agent(),
        AgentLevel.SUBAGENT,
        spawningCall.invocation(),
        spawningCall.id(),
        parent.traceId());
  }

  private TaskCreated created(TaskCreated parent, SubtaskRequest subtaskRequest) {
    var metadata =
        subtaskRequest.metadata() == null ? Json.object() : subtaskRequest.metadata().deepCopy();
    agentDirectory.describe(subtaskRequest.agent(), metadata);
    return new TaskCreated(
        Initiator.AGENT,
        metadata,
        null,
        subtaskRequest.prompt(),
        parent.taskType(),
        parent.priority(),
        parent.timeoutMs(),
        parent.workingDirectory());
  }
}
