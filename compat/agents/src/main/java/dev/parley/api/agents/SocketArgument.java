package dev.parley.api.agents;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The argument of an event for a socket client, or of an acknowledgement. Missing fields are not
/// written.
sealed interface SocketArgument {

  default JsonNode json() {
    return Json.mapper().valueToTree(this);
  }

  /// An event of an agent that the client has subscribed to.
  record AgentArgument(
      TaskId agentId,
      Instant timestamp,
      @Nullable AgentMessage message,
      @Nullable Long from,
      @Nullable Long to,
      @Nullable AgentStatus status,
      @Nullable AgentErrorArgument error,
      @Nullable AgentEndArgument result)
      implements SocketArgument {

    static AgentArgument message(TaskId agent, Instant time, AgentMessage message) {
      return new AgentArgument(agent, time, message, null, null, null, null, null);
    }

    /// The messages between these numbers are not sent.
    static AgentArgument gap(TaskId agent, Instant time, long from, long to) {
      return new AgentArgument(agent, time, null, from, to, null, null, null);
    }

    static AgentArgument status(TaskId agent, Instant time, AgentStatus status) {
      return new AgentArgument(agent, time, null, null, null, status, null, null);
    }

    static AgentArgument error(TaskId agent, Instant time, AgentErrorArgument error) {
      return new AgentArgument(agent, time, null, null, null, null, error, null);
    }

    static AgentArgument result(TaskId agent, Instant time, AgentEndArgument result) {
      return new AgentArgument(agent, time, null, null, null, null, null, result);
    }
  }

  record AgentErrorArgument(String message, ErrorCode name) {}

  record AgentEndArgument(String status, long duration, long messageCount) {}

  /// An event about the connection, about a subscription, or about any agent.
  record NoticeArgument(
      Instant timestamp,
      @Nullable String clientId,
      @Nullable String agentId,
      @Nullable AgentInfo agent,
      @Nullable AgentStatus status,
      @Nullable Long messageCount)
      implements SocketArgument {

    static NoticeArgument connected(Instant time, String client) {
      return new NoticeArgument(time, client, null, null, null, null);
    }

    static NoticeArgument created(Instant time, AgentInfo agent) {
      return new NoticeArgument(time, null, null, agent, null, null);
    }

    static NoticeArgument of(Instant time, String agent) {
      return new NoticeArgument(time, null, agent, null, null, null);
    }

    NoticeArgument with(AgentStatus now, @Nullable Long messages) {
      return new NoticeArgument(timestamp, clientId, agentId, agent, now, messages);
    }
  }

  /// A rejected event.
  record RejectionArgument(String event, String code, @Nullable String message, String agentId)
      implements SocketArgument {}

  /// An acknowledgement.
  record AckArgument(
      boolean ok,
      @Nullable String code,
      @Nullable String error,
      @Nullable TaskId agentId,
      @Nullable AgentStatus status)
      implements SocketArgument {

    static AckArgument rejected(String code, @Nullable String error) {
      return new AckArgument(false, code, error, null, null);
    }

    static AckArgument accepted(TaskId agent, @Nullable AgentStatus status) {
      return new AckArgument(true, null, null, agent, status);
    }
  }
}
