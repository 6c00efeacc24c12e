package dev.parley.embed;

/// An agent as a program writes it: one method that does the work of a task.
///
/// For agents that go on after a crash, or wait without a thread, there is [dev.parley.task.Agent].
@FunctionalInterface
public interface Worker {

  /// Does the work, on a thread of the task's own. What it [says][Assignment#say] is the answer.
  ///
  /// An interrupt means that the task is to stop: let it pass. Whatever else is thrown ends the task as
  /// failed; [WorkFailed] says why.
  void execute(Assignment assignment) throws InterruptedException;
}
