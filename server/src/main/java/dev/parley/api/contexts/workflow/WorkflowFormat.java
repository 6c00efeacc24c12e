package dev.parley.api.contexts.workflow;

import dev.parley.api.contexts.workflow.WorkflowEnvelope.Links;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeOutputDelta;
import dev.parley.api.contexts.workflow.WorkflowTranslator.TranslatedEvent;
import dev.parley.http.EventFormat;
import dev.parley.http.SseFrames;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.EnumSet;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// Encodes events in the workflow format.
public final class WorkflowFormat implements EventFormat {

  /// The kinds that are diagnostics in this format.
  public static final Set<Kind> DIAGNOSTICS =
      Set.copyOf(
          EnumSet.of(
              Kind.THOUGHT_STREAM,
              Kind.INTERNAL_THOUGHT_PROCESS,
              Kind.INTERNAL_CHECKPOINT,
              Kind.INTERNAL_RAW,
              Kind.USAGE));

  private final SubagentTreeCache subagentTreeCache;
  private final WorkflowTranslator workflowTranslator;

  public WorkflowFormat(EventLog log, Views views) {
    this(new SubagentTreeCache(log, (context, task, at) -> before(views, context, task, at)));
  }

  WorkflowFormat(SubagentTreeCache subagentTreeCache) {
    this.subagentTreeCache = subagentTreeCache;
    this.workflowTranslator = new WorkflowTranslator(subagentTreeCache);
  }

  @Override
  public byte[] json(Entry entry) {
    return json(entry, workflowTranslator.translate(entry));
  }

  @Override
  public byte[] frame(Entry entry) {
    return frame(entry, workflowTranslator.translate(entry));
  }

  @Override
  public byte[] merged(Entry entry, long from) {
    var delta = (ContentDelta) entry.event();
    return frame(
        entry,
        TranslatedEvent.of(
            new NodeOutputDelta(delta.delta(), delta.index(), delta.blockId(), from)));
  }

  @Override
  public byte[] open(StreamOpening streamOpening) {
    var json =
        Json.object()
            .put("event_type", "connected")
            .put("session_id", streamOpening.context().value())
            .putNull("run_id")
            .putNull("parent_run_id")
            .putNull("active_run_id");
    if (streamOpening.extraFields() != null) {
      json.setAll(streamOpening.extraFields());
    }
    json.put("heartbeat_ms", streamOpening.heartbeat().toMillis());
    return SseFrames.withRetry(note("connected", streamOpening.position(), json));
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    var name = "workflow.stream.dropped";
    var json = Json.object().put("event_type", name).put("reason", reason);
    return note(name, position, json.put("requested", requested.isEmpty() ? null : requested));
  }

  private byte[] frame(Entry entry, TranslatedEvent translatedEvent) {
    return SseFrames.frame(
        entry.position(), translatedEvent.event().eventType(), json(entry, translatedEvent));
  }

  private byte[] json(Entry entry, TranslatedEvent translatedEvent) {
    var links =
        new Links(translatedEvent.call(), translatedEvent.cause(), subagentTreeCache.path(entry));
    var envelope = WorkflowEnvelope.of(entry, translatedEvent.event().eventType(), links);
    return SnakeCaseJson.bytes(envelope, translatedEvent.event());
  }

  private static Position before(Views views, ContextId context, TaskId task, Position at) {
    try {
      return views
          .startPosition(context, task, at)
          .map(begun -> Position.of(begun.seq() - 1))
          .orElse(Position.START);
    } catch (Rejection.Unavailable viewsCannotBeUsed) {
      // Reading the whole log is slower but gives the same result.
      return Position.START;
    }
  }

  private static byte[] note(String name, Position position, ObjectNode json) {
    json.putPOJO("position", position);
    return SseFrames.frame(position, name, Json.bytes(json));
  }
}
