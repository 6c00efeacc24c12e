package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Creates subtasks, within the limits of a task tree.
public final class Spawner {

  /// A subtask for another agent.
  public record Child(
      TaskId task, AgentTypeId agent, String prompt, @Nullable ObjectNode metadata) {}

  /// The tool call that spawns subtasks, and the events to append right before them.
  public record Call(ToolCallId id, InvocationId invocation, List<? extends Event> before) {}

  private final EventLog log;
  private final Agents agents;
  private final Limits.Tree limits;
  private final Consumer<ContextId> advance;

  Spawner(EventLog log, Tasks.Setup setup, Consumer<ContextId> advance) {
    this.log = log;
    this.agents = setup.agents();
    this.limits = setup.limits().tree();
    this.advance = advance;
  }

  /// Appends the subtasks, in one append with the events before them, and starts them.
  ///
  /// @throws Rejection.Invalid if an agent is unknown or a limit is reached
  public void spawn(Run run, Call call, List<Child> children) {
    children.forEach(child -> agents.choose(child.agent()));
    log.append(run.context(), Guard.none(), state -> drafts(state, run, call, children));
    run.reach("children-written");
    advance.accept(run.context());
  }

  /// Appends subtasks that will never run, each with its end, so that the log has all subtasks of
  /// the call.
  public void skip(Run run, Call call, List<Child> children, String reason) {
    log.append(
        run.context(),
        Guard.none(),
        state -> {
          var drafts = new ArrayList<>(drafts(state, run, call, children));
          for (var child : children) {
            var metadata = Json.object().put("reason", reason);
            drafts.add(
                new Draft(
                    origin(run.origin(), call, child),
                    new TaskStatus(TaskState.CANCELED, null, metadata)));
            drafts.add(
                new Draft(
                    run.origin(),
                    new SubtaskComplete(child.task(), TaskState.CANCELED, null, reason)));
          }
          return drafts;
        });
  }

  /// Appends a subtask that the agent of `run` runs itself, with the status `working`.
  ///
  /// @throws Rejection.Invalid if a limit is reached
  public Hosted host(Run run, Call call, Child child) {
    var metadata = child.metadata() == null ? Json.object() : child.metadata().deepCopy();
    metadata.put(Hosted.HOSTED, true);
    var hosted = new Child(child.task(), child.agent(), child.prompt(), metadata);
    var origin = origin(run.origin(), call, hosted);
    log.append(
        run.context(),
        Guard.none(),
        state -> {
          var drafts = new ArrayList<>(drafts(state, run, call, List.of(hosted)));
          drafts.add(new Draft(origin, new TaskStatus(TaskState.WORKING, null, null)));
          return drafts;
        });
    return new Hosted(log, run.context(), origin, run.sources().clock());
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

  private List<Draft> drafts(ContextState state, Run run, Call call, List<Child> children) {
    var parent =
        state
            .openTask(run.taskId())
            .filter(task -> !task.cancelRequested())
            .orElseThrow(
                () -> new Rejection.Conflict("task-ended", "the task is ending: " + run.taskId()));
    checkLimits(state, parent, children.size());
    var drafts = new ArrayList<Draft>();
    call.before().forEach(event -> drafts.add(new Draft(run.origin(), event)));
    for (var child : children) {
      drafts.add(
          new Draft(run.origin(), new SubtaskCreated(child.task(), child.agent(), child.prompt())));
      drafts.add(new Draft(origin(run.origin(), call, child), created(run.created(), child)));
    }
    return drafts;
  }

  private void checkLimits(ContextState state, OpenTask parent, int count) {
    if (Lineup.depth(state, parent) + 1 > limits.maxDepth()) {
      throw new Rejection.Invalid(
          "limit", "sub-agents may be nested at most " + limits.maxDepth() + " levels deep");
    }
    var root = state.openTask(parent.origin().rootTaskId()).orElse(parent);
    if (root.descendants() + count > limits.maxSubtasks()) {
      throw new Rejection.Invalid(
          "limit", "a task may have at most " + limits.maxSubtasks() + " sub-agents in all");
    }
  }

  private static Origin origin(Origin parent, Call call, Child child) {
    return new Origin(
        child.task(),
        parent.taskId(),
        parent.rootTaskId(),
        child.agent(),
        AgentLevel.SUBAGENT,
        call.invocation(),
        call.id(),
        parent.traceId());
  }

  private TaskCreated created(TaskCreated parent, Child child) {
    var metadata = child.metadata() == null ? Json.object() : child.metadata().deepCopy();
    agents.describe(child.agent(), metadata);
    return new TaskCreated(
        Initiator.AGENT,
        metadata,
        null,
        child.prompt(),
        parent.taskType(),
        parent.priority(),
        parent.timeoutMs(),
        parent.workingDirectory());
  }
}
