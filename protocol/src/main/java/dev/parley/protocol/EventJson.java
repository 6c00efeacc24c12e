package dev.parley.protocol;

import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts events and entries to JSON and back.
///
/// On the wire an entry is one flat object: the fields of the envelope, then those of the event.
public final class EventJson {

  private static final int FRAME_USUAL = 512;

  private EventJson() {}

  /// The event's own fields as a JSON object, without the envelope.
  public static byte[] payload(Event event) {
    if (event instanceof ContentDelta delta) {
      var json = new JsonBytes(96);
      EntryJsonWriter.fields(json.ascii("{"), delta);
      return json.ascii("}").toArray();
    }
    return Json.bytes(event);
  }

  /// Reads an event from its own fields. Other fields are ignored.
  ///
  /// @throws Rejection.Invalid if a field is missing or has the wrong type
  public static Event event(Kind kind, byte[] payload) {
    return Json.readOwn(payload, kind.type());
  }

  /// Reads an event from an object with its fields and possibly others.
  ///
  /// @throws Rejection.Invalid if a field is missing or has the wrong type
  public static Event event(Kind kind, ObjectNode fields) {
    return Json.read(fields, kind.type());
  }

  /// The JSON of the entry as sent over the wire.
  public static byte[] bytes(Entry entry) {
    return new EntryJsonWriter(FRAME_USUAL).entry(entry).toArray();
  }

  /// The JSON of the entry as text, for logs and tests.
  public static String text(Entry entry) {
    return new String(bytes(entry), StandardCharsets.UTF_8);
  }

  /// Reads an entry from its JSON.
  ///
  /// @throws Rejection.Invalid if it is not an entry; the code is `unknown-kind` if only the kind
  ///     is unknown
  public static Entry entry(byte[] json) {
    return entry(Json.readOwn(json, ObjectNode.class));
  }

  /// Reads an entry from its JSON.
  ///
  /// @throws Rejection.Invalid as [#entry(byte\[\])] does
  public static Entry entry(ObjectNode fields) {
    var entryEnvelope = Json.read(fields, EntryEnvelope.class);
    var kind =
        Kind.find(entryEnvelope.kind())
            .orElseThrow(
                () ->
                    new Rejection.Invalid("unknown-kind", "no such kind: " + entryEnvelope.kind()));
    var event = event(kind, fields);
    return entryEnvelope.entry(event, !namesAnotherAgent(event));
  }

  /// In these two kinds `agentId` is the event's own field, as the protocol defines it, not the
  /// envelope's.
  static boolean namesAnotherAgent(Event event) {
    return event instanceof SubtaskCreated || event instanceof InputReceived;
  }

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
}
