package dev.parley.protocol;

import org.jspecify.annotations.Nullable;

/// Which task an event comes from. Constant for the life of that task.
public record Origin(
    TaskId taskId,
    @Nullable TaskId parentTaskId,
    TaskId rootTaskId,
    AgentTypeId agentId,
    AgentLevel agentLevel,
    @Nullable InvocationId invocationId,
    @Nullable ToolCallId spawnedByCallId,
    @Nullable String traceId) {

  /// The origin of a task that nobody spawned.
  public static Origin root(TaskId task, AgentTypeId agent) {
    return new Origin(task, null, task, agent, AgentLevel.CORE, null, null, null);
  }
}
