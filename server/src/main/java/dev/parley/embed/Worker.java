package dev.parley.embed;

/// The simplest way to write an agent: one method that does the work of a task.
///
/// Agents that resume after a crash, or wait without a thread, implement [dev.parley.task.Agent].
@FunctionalInterface
public interface Worker {

  /// Does the work, on the task's own thread. The text that it [sends][WorkerTask#sendText] is the
  /// answer.
  ///
  /// An interrupt means that the task must stop: let the exception propagate. Any other exception
  /// ends the task as failed; throw [WorkFailed] to give the reason.
  void execute(WorkerTask workerTask) throws InterruptedException;
}
