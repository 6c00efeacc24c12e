package dev.parley.door.contexts.workflow;

import dev.parley.door.Format;
import dev.parley.door.Frames;
import dev.parley.door.contexts.workflow.Translation.Said;
import dev.parley.door.contexts.workflow.WorkflowEnvelope.Links;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeOutputDelta;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.Views;
import java.util.EnumSet;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// Encodes events in the workflow format.
public final class WorkflowFormat implements Format {

  /// The kinds that are diagnostics in this format.
  public static final Set<Kind> DIAGNOSTICS =
      Set.copyOf(
          EnumSet.of(
              Kind.THOUGHT_STREAM,
              Kind.INTERNAL_THOUGHT_PROCESS,
              Kind.INTERNAL_CHECKPOINT,
              Kind.INTERNAL_RAW,
              Kind.USAGE));

  private final Trees trees;
  private final Translation translation;

  public WorkflowFormat(EventLog log, Views views) {
    this(new Trees(log, (context, task, at) -> before(views, context, task, at)));
  }

  WorkflowFormat(Trees trees) {
    this.trees = trees;
    this.translation = new Translation(trees);
  }

  @Override
  public byte[] json(Entry entry) {
    return json(entry, translation.translate(entry));
  }

  @Override
  public byte[] frame(Entry entry) {
    return frame(entry, translation.translate(entry));
  }

  @Override
  public byte[] merged(Entry entry, long from) {
    var delta = (ContentDelta) entry.event();
    return frame(
        entry, Said.of(new NodeOutputDelta(delta.delta(), delta.index(), delta.blockId(), from)));
  }

  @Override
  public byte[] open(Opening opening) {
    var json =
        Json.object()
            .put("event_type", "connected")
            .put("session_id", opening.context().value())
            .putNull("run_id")
            .putNull("parent_run_id")
            .putNull("active_run_id");
    if (opening.greeting() != null) {
      json.setAll(opening.greeting());
    }
    json.put("heartbeat_ms", opening.heartbeat().toMillis());
    return Frames.first(note("connected", opening.position(), json));
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    var name = "workflow.stream.dropped";
    var json = Json.object().put("event_type", name).put("reason", reason);
    return note(name, position, json.put("requested", requested.isEmpty() ? null : requested));
  }

  private byte[] frame(Entry entry, Said said) {
    return Frames.frame(entry.position(), said.event().eventType(), json(entry, said));
  }

  private byte[] json(Entry entry, Said said) {
    var links = new Links(said.call(), said.cause(), trees.path(entry));
    var envelope = WorkflowEnvelope.of(entry, said.event().eventType(), links);
    return SnakeJson.bytes(envelope, said.event());
  }

  private static Position before(Views views, ContextId context, TaskId task, Position at) {
    try {
      return views
          .beginning(context, task, at)
          .map(begun -> Position.of(begun.seq() - 1))
          .orElse(Position.START);
    } catch (Rejection.Unavailable viewsCannotBeUsed) {
      // Reading the whole log is slower but gives the same result.
      return Position.START;
    }
  }

  private static byte[] note(String name, Position position, ObjectNode json) {
    json.putPOJO("position", position);
    return Frames.frame(position, name, Json.bytes(json));
  }
}
