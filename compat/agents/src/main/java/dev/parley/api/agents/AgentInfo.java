package dev.parley.api.agents;

import dev.parley.projection.RootTaskView;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An agent in the agents API. `id` and `agentId` are the same, because clients use one or the
/// other.
record AgentInfo(
    TaskId id,
    TaskId agentId,
    AgentTypeId type,
    AgentStatus status,
    @Nullable String prompt,
    AgentSession session,
    @Nullable String conversationName,
    @Nullable String workingDirectory,
    Instant createdAt,
    Instant updatedAt,
    @Nullable Instant completedAt,
    long messageCount,
    @Nullable AgentFailure error,
    @Nullable ObjectNode metadata) {

  /// The conversation of the agent; launch an agent with its id to continue it.
  record AgentSession(ContextId id) {}

  /// Why an agent failed.
  record AgentFailure(String name, String message) {}

  static AgentInfo of(RootTaskView agent) {
    var task = agent.task();
    var error = task.error();
    return new AgentInfo(
        task.taskId(),
        task.taskId(),
        task.agentId(),
        AgentStatus.of(task.status()),
        task.prompt(),
        new AgentSession(task.contextId()),
        agent.title(),
        task.workingDirectory(),
        task.createdAt(),
        task.updatedAt(),
        task.endedAt(),
        agent.numbers(),
        error == null ? null : new AgentFailure(error.code(), error.message()),
        task.facts().client().orElse(null));
  }

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
}
