package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.Optional;

/// Does the work of a task.
@FunctionalInterface
public interface Agent {

  /// Works until the task is done, cannot be done, or must wait, and appends every step to `run`.
  ///
  /// The runtime calls this method on a thread of the run, writes the task's end from the returned
  /// value, and stops a run by interrupting that thread. It calls the method again for the same
  /// task after the task was parked, and, if the agent [resumes][#resumes], after a crash: earlier
  /// events are in [TaskRun#readNewEntries].
  TaskOutcome work(TaskRun taskRun) throws InterruptedException;

  /// The next step of an agent that only delegates: called before the task's status becomes
  /// `working`, which then is not written. Empty if the agent has work to do, see [#work].
  ///
  /// The step must be quick and append at most once, because it is repeated if the store rejects
  /// the append.
  default Optional<TaskOutcome> decide(TaskRun taskRun) throws InterruptedException {
    return Optional.empty();
  }

  /// True if the agent can resume a task that was interrupted at any point. Interrupted tasks of
  /// other agents fail with `interrupted`.
  default boolean resumes() {
    return false;
  }

  /// True if the agent's first events may be in the append that begins a new task. The runtime then
  /// calls [#work] before the status `working` is in the log, and [TaskRun#emit] appends it before
  /// the first events of the run.
  ///
  /// Such an agent appends something within milliseconds, and until then has no effect but a
  /// question to a model, because the task may not begin after all: then the work was in vain, and
  /// the runtime may call the agent again.
  default boolean beginsWithOutput() {
    return false;
  }

  /// True if the agent checks the budgets of its tasks before each step, see [TaskRunControls].
  /// Other agents are stopped when a budget is used up.
  default boolean checksBudgets() {
    return false;
  }

  /// Releases the remote resources of tasks, for agents whose tasks hold some.
  default Optional<ResourceRelease> release() {
    return Optional.empty();
  }

  /// Releases the remote resources of a task.
  @FunctionalInterface
  interface ResourceRelease {

    /// Called before the server writes the end of a task that did not succeed, whether the task was
    /// running or waiting; possibly more than once. Must return quickly.
    void release(ContextId context, TaskId task) throws InterruptedException;
  }

  /// Checks whether open questions of tasks were already answered in a remote system, for agents
  /// that relay questions.
  default Optional<RemoteQuestionCheck> remoteQuestionCheck() {
    return Optional.empty();
  }

  /// Checks whether the open questions of a task were already answered in a remote system.
  @FunctionalInterface
  interface RemoteQuestionCheck {

    /// The reason why the task's questions need no answer any more; empty if they still need one,
    /// or if the check is not possible now.
    ///
    /// Called at intervals while the task waits. When the questions have lapsed for that reason,
    /// the runtime calls the agent again.
    Optional<String> settledReason(ContextId context, TaskId task) throws InterruptedException;
  }

  /// The model of the agent's tasks, if it is known before they start.
  default Optional<String> model() {
    return Optional.empty();
  }

  /// True if messages that steer a task of this agent go to the task's direct subtasks.
  default boolean forwardsMessages() {
    return false;
  }
}
