package dev.parley.api.chat;

import dev.parley.protocol.Entry;
import java.time.Instant;
import tools.jackson.databind.node.ObjectNode;

/// An event of a task, in the chat API.
record AgentEvent(Entry entry, AgentEventType type, String agentId, ObjectNode payload) {

  /// An event in a task's list of events.
  record ListedAgentEvent(
      String id,
      String taskId,
      String agentId,
      String type,
      Instant timestamp,
      ObjectNode payload) {}

  /// The event for a task's list of events, where every payload has the conversation's id.
  ListedAgentEvent listed() {
    var origin = entry.origin();
    var told = payload.deepCopy().put("conversationId", entry.contextId().value());
    return new ListedAgentEvent(
        entry.eventId().toString(),
        origin == null ? "" : origin.taskId().value(),
        agentId,
        type.ofTask(),
        entry.timestamp(),
        told);
  }
}
