package dev.parley.api.contexts.workflow;

import dev.parley.api.contexts.workflow.WorkflowEnvelope.Links;
import dev.parley.api.contexts.workflow.WorkflowEnvelope.SnakeCaseJson;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeOutputDelta;
import dev.parley.api.contexts.workflow.WorkflowTranslator.TranslatedEvent;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.projection.Views;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.stream.EventFormat;
import dev.parley.stream.SseFrames;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes events in the workflow format.
final class WorkflowFormat implements EventFormat {

  /// The kinds that are diagnostics in this format.
  static final Set<Kind> DIAGNOSTICS =
      Set.copyOf(
          EnumSet.of(
              Kind.THOUGHT_STREAM,
              Kind.INTERNAL_THOUGHT_PROCESS,
              Kind.INTERNAL_CHECKPOINT,
              Kind.INTERNAL_RAW,
              Kind.USAGE));

  private final SubagentTreeCache trees;
  private final WorkflowTranslator translator;
  private final BiFunction<ContextId, Optional<TaskId>, ObjectNode> runFields;

  WorkflowFormat(EventLog log, Views views) {
    this(
        new SubagentTreeCache(log, views::positionBefore),
        (context, task) -> runFields(log, views, context, task));
  }

  WorkflowFormat(
      SubagentTreeCache trees, BiFunction<ContextId, Optional<TaskId>, ObjectNode> runFields) {
    this.runFields = runFields;
    this.trees = trees;
    this.translator = new WorkflowTranslator(trees);
  }

  @Override
  public byte[] json(Entry entry) {
    return json(entry, translator.translate(entry));
  }

  @Override
  public byte[] frame(Entry entry) {
    return frame(entry, translator.translate(entry));
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
  public byte[] open(StreamOpening opening) {
    var json =
        Json.object()
            .put("event_type", "connected")
            .put("session_id", opening.context().value())
            .putNull("run_id")
            .putNull("parent_run_id")
            .putNull("active_run_id");
    if (opening.extraFields() != null) {
      json.setAll(opening.extraFields());
    }
    json.put("heartbeat_ms", opening.heartbeat().toMillis());
    return SseFrames.withRetry(note("connected", opening.position(), json));
  }

  @Override
  public Set<Kind> diagnostics() {
    return DIAGNOSTICS;
  }

  @Override
  public ObjectNode openingFields(ContextId context, Optional<TaskId> task) {
    return runFields.apply(context, task);
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    var name = "workflow.stream.dropped";
    var json = Json.object().put("event_type", name).put("reason", reason);
    return note(name, position, json.put("requested", requested.isEmpty() ? null : requested));
  }

  /// The fields of a stream's first frame that name its run, the parent of that run, and the active
  /// run of the session.
  private static ObjectNode runFields(
      EventLog log, Views views, ContextId context, Optional<TaskId> task) {
    var active = log.inspect(context, WorkflowFormat::active);
    var run = task.or(() -> active);
    var parent = run.flatMap(id -> views.task(context, id)).map(TaskView::parentTaskId);
    return Json.object()
        .put("run_id", text(run))
        .put("parent_run_id", text(parent))
        .put("active_run_id", text(active));
  }

  /// The running root task, or else the next one.
  private static Optional<TaskId> active(ContextState state) {
    var roots =
        state.openTasks().stream().filter(task -> task.origin().parentTaskId() == null).toList();
    return roots.stream()
        .filter(OpenTask::started)
        .findFirst()
        .or(() -> roots.stream().findFirst())
        .map(task -> task.origin().taskId());
  }

  private static @Nullable String text(Optional<TaskId> task) {
    return task.map(TaskId::value).orElse(null);
  }

  private byte[] frame(Entry entry, TranslatedEvent translated) {
    return SseFrames.frame(
        entry.position(), translated.event().eventType(), json(entry, translated));
  }

  private byte[] json(Entry entry, TranslatedEvent translated) {
    var links = new Links(translated.call(), translated.cause(), trees.path(entry));
    var envelope = WorkflowEnvelope.of(entry, translated.event().eventType(), links);
    return SnakeCaseJson.bytes(envelope, translated.event());
  }

  private static byte[] note(String name, Position position, ObjectNode json) {
    json.putPOJO("position", position);
    return SseFrames.frame(position, name, Json.bytes(json));
  }
}
