package dev.parley.protocol;

import org.jspecify.annotations.Nullable;

/// The task that an event comes from. Constant during the life of the task.
public record Origin(
    TaskId taskId,
    @Nullable TaskId parentTaskId,
    TaskId rootTaskId,
    AgentTypeId agentId,
    AgentLevel agentLevel,
    @Nullable InvocationId invocationId,
    @Nullable ToolCallId spawnedByCallId,
    @Nullable String traceId) {

  /// The origin of a root task.
  public static Origin root(TaskId task, AgentTypeId agent) {
    return new Origin(task, null, task, agent, AgentLevel.CORE, null, null, null);
  }
}
