package dev.parley.door.chat;

import dev.parley.protocol.Entry;
import java.time.Instant;
import tools.jackson.databind.node.ObjectNode;

/// Something that happened to a task.
record AgentEvent(Entry entry, AgentEventType type, String agentId, ObjectNode payload) {

  /// As a task's list of events has it.
  record Listed(
      String id,
      String taskId,
      String agentId,
      String type,
      Instant timestamp,
      ObjectNode payload) {}

  /// The event as a task's list has it: every payload says which conversation it belongs to.
  Listed listed() {
    var origin = entry.origin();
    var told = payload.deepCopy().put("conversationId", entry.contextId().value());
    return new Listed(
        entry.eventId().toString(),
        origin == null ? "" : origin.taskId().value(),
        agentId,
        type.ofTask(),
        entry.timestamp(),
        told);
  }
}
