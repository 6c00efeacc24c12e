package dev.parley.protocol;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The fields that all entries have on the wire, besides those of the event.
record EntryEnvelope(
    String kind,
    long seq,
    @Nullable Integer k,
    UUID eventId,
    ContextId contextId,
    @Nullable TaskId taskId,
    @Nullable TaskId parentTaskId,
    @Nullable TaskId rootTaskId,
    @Nullable AgentTypeId agentId,
    @Nullable AgentLevel agentLevel,
    @Nullable InvocationId invocationId,
    @Nullable ToolCallId spawnedByCallId,
    @Nullable String traceId,
    Instant timestamp) {

  private static final AgentTypeId UNKNOWN = new AgentTypeId("unknown");

  EntryEnvelope {
    if (seq < 0 || (k != null && k < 0)) {
      throw new IllegalArgumentException("a position must not be negative");
    }
  }

  /// The entry of `event`. `withAgent` is false if the `agentId` field belongs to the event.
  Entry entry(Event event, boolean withAgent) {
    var position = new Position(seq, k == null ? 0 : k);
    return new Entry(contextId, position, eventId, timestamp, origin(withAgent), event);
  }

  private @Nullable Origin origin(boolean withAgent) {
    if (taskId == null) {
      return null;
    }
    return new Origin(
        taskId,
        parentTaskId,
        rootTaskId == null ? taskId : rootTaskId,
        agentId == null || !withAgent ? UNKNOWN : agentId,
        agentLevel == null ? AgentLevel.CORE : agentLevel,
        invocationId,
        spawnedByCallId,
        traceId);
  }
}
