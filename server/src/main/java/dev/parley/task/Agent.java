package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.Optional;

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

  /// Lets go of what tasks hold elsewhere, for agents whose tasks do.
  default Optional<Release> release() {
    return Optional.empty();
  }

  /// Lets go of what a task holds elsewhere.
  @FunctionalInterface
  interface Release {

    /// Called before the task's end is written, if that is no success, whether it runs or waits; perhaps more than
    /// once. Does not wait for long.
    void letGo(ContextId context, TaskId task) throws InterruptedException;
  }

  /// Looks whether what tasks ask was settled elsewhere, for agents that ask on behalf of others.
  default Optional<Lookout> lookout() {
    return Optional.empty();
  }

  /// Looks whether what a task asks was settled elsewhere.
  @FunctionalInterface
  interface Lookout {

    /// Why nobody needs to answer what the task asks any more; empty if somebody does, or if that cannot be told now.
    /// Called now and then while the task waits. The agent is called to work once what it asked has lapsed for that
    /// reason.
    Optional<String> settled(ContextId context, TaskId task) throws InterruptedException;
  }

  /// The model that its tasks use, if it is known before they begin.
  default Optional<String> model() {
    return Optional.empty();
  }

  /// True if what people say to its tasks while they work is for the tasks right below.
  default boolean passesOn() {
    return false;
  }
}
