package dev.parley.api.agents;

import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;

/// The status of an agent in the agents API.
public enum AgentStatus implements WireName {
  /// It is queued.
  INITIALIZING,
  RUNNING,
  /// It waits for a person.
  PAUSED,
  COMPLETED,
  FAILED,
  /// It was stopped.
  TERMINATED;

  /// The status for a task's state.
  public static AgentStatus of(TaskState state) {
    return switch (state) {
      case SUBMITTED -> INITIALIZING;
      // An agent is running while its sub-agents are.
      case WORKING, WAITING_SUBTASK -> RUNNING;
      case WAITING_INPUT, WAITING_AUTH -> PAUSED;
      case COMPLETED -> COMPLETED;
      case FAILED -> FAILED;
      case CANCELED -> TERMINATED;
    };
  }

  /// True if the status is terminal.
  public boolean ended() {
    return this == COMPLETED || this == FAILED || this == TERMINATED;
  }

  /// The name of the result: `success` if completed, else the status.
  String result() {
    return this == COMPLETED ? "success" : wire();
  }
}
