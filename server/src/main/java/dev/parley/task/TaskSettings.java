package dev.parley.task;

import dev.parley.control.TaskControls;

/// The agents, folders, limits and controls of tasks.
public record TaskSettings(
    AgentDirectory agents,
    Workspaces workspaces,
    TaskLimits limits,
    FailPoint failPoint,
    TaskControls controls) {

  /// Settings with controls that are kept in memory.
  public TaskSettings(
      AgentDirectory agents, Workspaces workspaces, TaskLimits limits, FailPoint failPoint) {
    this(agents, workspaces, limits, failPoint, TaskControls.inMemory());
  }
}
