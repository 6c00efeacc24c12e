package dev.parley.protocol;

import org.jspecify.annotations.Nullable;

/// A task hands work to another.
public sealed interface SubtaskEvent extends Event {

  /// A sub-agent was asked for; `agentId` is the sub-agent. Precedes every event of the subtask.
  record SubtaskCreated(TaskId subtaskId, @Nullable AgentTypeId agentId, String prompt)
      implements SubtaskEvent {}

  /// A subtask has ended, and how. Follows every event of the subtask.
  record SubtaskComplete(
      TaskId subtaskId, TaskState status, @Nullable String result, @Nullable String error)
      implements SubtaskEvent {}
}
