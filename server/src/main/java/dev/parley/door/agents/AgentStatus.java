package dev.parley.door.agents;

import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;

/// How an agent stands, in the words of this door.
public enum AgentStatus implements WireName {
  /// It waits for its turn.
  INITIALIZING,
  RUNNING,
  /// It waits for a person.
  PAUSED,
  COMPLETED,
  FAILED,
  /// Somebody stopped it.
  TERMINATED;

  /// What a task's state is called here.
  public static AgentStatus of(TaskState state) {
    return switch (state) {
      case SUBMITTED -> INITIALIZING;
      // An agent whose sub-agents work is at work.
      case WORKING, WAITING_SUBTASK -> RUNNING;
      case WAITING_INPUT, WAITING_AUTH -> PAUSED;
      case COMPLETED -> COMPLETED;
      case FAILED -> FAILED;
      case CANCELED -> TERMINATED;
    };
  }

  /// True if the agent will do nothing more.
  public boolean ended() {
    return this == COMPLETED || this == FAILED || this == TERMINATED;
  }

  /// How it came out, where `success` is what the good end is called.
  String result() {
    return this == COMPLETED ? "success" : wire();
  }
}
