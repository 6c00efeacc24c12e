package dev.parley.api.contexts.workflow;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The fields that every event of the workflow format has.
///
/// `seq` orders the events of a session, and so those of each run; `sub_seq` is 0 except for
/// internal events, which follow event `seq`. A task and a run are the same. `path` leads from the
/// root to the parent.
record WorkflowEnvelope(
    String eventType,
    UUID eventId,
    long seq,
    int subSeq,
    Instant timestamp,
    ContextId sessionId,
    AgentLevel agentLevel,
    @Nullable AgentTypeId agentId,
    @Nullable TaskId taskId,
    @Nullable TaskId parentTaskId,
    @Nullable TaskId runId,
    @Nullable TaskId parentRunId,
    @Nullable TaskId correlationId,
    @Nullable ToolCallId causationId,
    @Nullable ToolCallId callId,
    String logId,
    String invocationId,
    @Nullable ToolCallId spawnedByCallId,
    List<TaskId> path) {

  /// Facts that are not in the entry itself. `call` is the call of the event, `cause` the call that
  /// caused it, if they are not the call that spawned the run.
  record Links(@Nullable ToolCallId call, @Nullable ToolCallId cause, List<TaskId> path) {}

  static WorkflowEnvelope of(Entry entry, String eventType, Links links) {
    var origin = Optional.ofNullable(entry.origin());
    var task = entry.taskId();
    var parent = origin.map(o -> o.parentTaskId()).orElse(null);
    var root = origin.map(o -> o.rootTaskId()).orElse(null);
    var spawning = origin.map(o -> o.spawnedByCallId()).orElse(null);
    return new WorkflowEnvelope(
        eventType,
        entry.eventId(),
        entry.position().seq(),
        entry.position().k(),
        entry.timestamp(),
        entry.contextId(),
        parent == null ? AgentLevel.CORE : AgentLevel.SUBAGENT,
        origin.map(o -> o.agentId()).orElse(null),
        task,
        parent,
        task,
        parent,
        root,
        links.cause() == null ? spawning : links.cause(),
        links.call() == null ? spawning : links.call(),
        origin
            .map(o -> o.traceId() == null ? o.rootTaskId().value() : o.traceId())
            .orElse(entry.contextId().value()),
        origin.map(o -> o.invocationId()).map(InvocationId::value).orElse(""),
        spawning,
        links.path());
  }

  /// The workflow format's names for the states of a task.
  static final class WorkflowPhase {

    private WorkflowPhase() {}

    static String of(TaskState state) {
      return switch (state) {
        case SUBMITTED -> "submitted";
        case WORKING -> "running";
        case WAITING_INPUT -> "waiting_input";
        case WAITING_AUTH -> "waiting_auth";
        case WAITING_SUBTASK -> "waiting_subtask";
        case COMPLETED -> "succeeded";
        case FAILED -> "failed";
        case CANCELED -> "cancelled";
      };
    }
  }

  /// JSON of the workflow format: names in snake_case, nulls included. Free-form objects stay
  /// unchanged.
  static final class SnakeCaseJson {

    private static final JsonMapper MAPPER =
        Json.mapper()
            .rebuild()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .changeDefaultPropertyInclusion(
                inclusion -> inclusion.withValueInclusion(JsonInclude.Include.ALWAYS))
            .build();

    private SnakeCaseJson() {}

    /// The fields of a record.
    static ObjectNode tree(Object record) {
      return MAPPER.valueToTree(record);
    }

    /// The fields of two records as one object.
    static byte[] bytes(Object one, Object other) {
      var first = MAPPER.writeValueAsBytes(one);
      var second = MAPPER.writeValueAsBytes(other);
      if (second.length == 2) {
        return first;
      }
      return ByteBuffer.allocate(first.length + second.length - 1)
          .put(first, 0, first.length - 1)
          .put((byte) ',')
          .put(second, 1, second.length - 1)
          .array();
    }
  }
}
