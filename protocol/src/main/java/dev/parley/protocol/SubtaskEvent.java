package dev.parley.protocol;

import org.jspecify.annotations.Nullable;

/// A task delegates work to a sub-agent.
public sealed interface SubtaskEvent extends Event {

  /// A subtask was created. `agentId` is the sub-agent. It precedes all events of the subtask.
  record SubtaskCreated(TaskId subtaskId, @Nullable AgentTypeId agentId, String prompt)
      implements SubtaskEvent {}

  /// A subtask has ended. It follows all events of the subtask.
  record SubtaskComplete(
      TaskId subtaskId, TaskState status, @Nullable String result, @Nullable String error)
      implements SubtaskEvent {}
}
