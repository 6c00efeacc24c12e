package dev.parley.api.chat;

/// The types of a task's events, with their names in the task's list of events and in the
/// conversation's stream.
enum AgentEventType {
  STARTED("task:started", "task_started"),
  PROGRESS("task:progress", "task_progress"),
  OUTPUT("task:output", "task_output"),
  TOOL_CALL("task:tool_call", "tool_call"),
  TOOL_RESULT("task:tool_result", "tool_result"),
  SUBAGENT_START("task:subagent_start", "subagent_start"),
  SUBAGENT_STOP("task:subagent_stop", "subagent_stop"),
  COMPLETED("task:completed", "task_completed"),
  FAILED("task:failed", "task_failed"),
  CANCELLED("task:cancelled", "task_cancelled");

  private final String task;
  private final String chat;

  AgentEventType(String task, String chat) {
    this.task = task;
    this.chat = chat;
  }

  /// The name in a task's list of events.
  String ofTask() {
    return task;
  }

  /// The name in a conversation's stream.
  String ofChat() {
    return chat;
  }
}
