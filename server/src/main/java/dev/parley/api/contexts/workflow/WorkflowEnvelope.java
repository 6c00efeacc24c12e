package dev.parley.api.contexts.workflow;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

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
}
