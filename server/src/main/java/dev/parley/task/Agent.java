package dev.parley.task;

/// Does the work of a task.
@FunctionalInterface
public interface Agent {

  /// Works until the task is done, cannot be done, or must wait, telling `run` every step.
  ///
  /// Called on a thread of the run. The runtime writes the task's end from what this returns, and stops
  /// a run by interrupting that thread. Called again for the same task after it was parked, and, if the
  /// agent [resumes][#resumes], after a crash: what happened before is in [Run#news].
  Outcome work(Run run) throws InterruptedException;

  /// True if the agent can go on with a task that was cut off at any point. The tasks of others end as
  /// interrupted.
  default boolean resumes() {
    return false;
  }

  /// True if what people say to its tasks while they work is for the tasks right below.
  default boolean passesOn() {
    return false;
  }
}
