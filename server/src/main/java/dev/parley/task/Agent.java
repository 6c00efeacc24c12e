package dev.parley.task;

/// Does the work of a task.
@FunctionalInterface
public interface Agent {

  /// Works until the task is done or cannot be done, telling `run` every step.
  ///
  /// Called on the run's own thread. The runtime writes the task's end from what this returns, and
  /// stops a run by interrupting that thread.
  Outcome work(Run run) throws InterruptedException;
}
