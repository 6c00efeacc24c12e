package dev.parley.protocol;

import dev.parley.protocol.ContentEvent.ContentDelta;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Writes entries as JSON, one after the other, into one growing buffer, with other text between
/// them.
///
/// Consecutive entries usually have the same origin, and a time in the same second. The JSON of
/// these is created once, and then copied from where it was written before. For one thread.
public final class EntryJsonWriter {

  private static final int NOWHERE = -1;

  /// The length of a time up to its milliseconds: `2026-11-15T10:30:00.`
  private static final int SECOND_LENGTH = 20;

  private static final int TIMESTAMP_LENGTH = 24;

  private final JsonBytes json;
  private @Nullable Origin origin;
  private int originFrom = NOWHERE;
  private int originTo = NOWHERE;
  private long second;
  private int secondFrom = NOWHERE;

  /// @param capacity the expected size in bytes
  public EntryJsonWriter(int capacity) {
    json = new JsonBytes(capacity);
  }

  /// How many bytes were written.
  public int size() {
    return json.size();
  }

  /// A copy of everything that was written.
  public byte[] toArray() {
    return json.toArray();
  }

  /// Removes everything after the first `length` bytes.
  public void truncate(int length) {
    json.truncate(length);
    if (originTo > length) {
      originFrom = NOWHERE;
      originTo = NOWHERE;
    }
    if (secondFrom + SECOND_LENGTH > length) {
      secondFrom = NOWHERE;
    }
  }

  /// Writes plain ASCII text.
  public EntryJsonWriter ascii(String text) {
    json.ascii(text);
    return this;
  }

  /// Writes bytes as they are.
  public EntryJsonWriter raw(byte[] bytes) {
    json.raw(bytes, 0, bytes.length);
    return this;
  }

  /// Writes a position such as `17` or `17.2`.
  public EntryJsonWriter position(Position position) {
    json.number(position.seq());
    if (position.k() > 0) {
      json.ascii(".").number(position.k());
    }
    return this;
  }

  /// Writes the JSON of an entry as sent over the wire.
  public EntryJsonWriter entry(Entry entry) {
    envelope(entry);
    if (entry.event() instanceof ContentDelta delta) {
      fields(json.ascii(","), delta);
      json.ascii("}");
      return this;
    }
    var payload = EventJson.payload(entry.event());
    if (payload.length > 2) {
      json.ascii(",").raw(payload, 1, payload.length);
    } else {
      json.ascii("}");
    }
    return this;
  }

  private void envelope(Entry entry) {
    var position = entry.position();
    json.ascii("{\"kind\":\"").ascii(entry.kind().wire());
    json.ascii("\",\"seq\":").number(position.seq());
    if (position.k() > 0) {
      json.ascii(",\"k\":").number(position.k());
    }
    json.ascii(",\"eventId\":\"").uuid(entry.eventId());
    json.ascii("\",\"contextId\":\"").ascii(entry.contextId().value()).ascii("\"");
    if (entry.origin() != null) {
      origin(entry.origin(), EventJson.namesAnotherAgent(entry.event()));
    }
    json.ascii(",\"timestamp\":\"");
    timestamp(entry.timestamp());
    json.ascii("\"");
  }

  private void origin(Origin next, boolean withoutAgent) {
    if (withoutAgent) {
      fields(next, true);
    } else if (originFrom != NOWHERE && next.equals(origin)) {
      json.repeat(originFrom, originTo);
    } else {
      origin = next;
      originFrom = json.size();
      fields(next, false);
      originTo = json.size();
    }
  }

  private void timestamp(Instant time) {
    if (secondFrom != NOWHERE && time.getEpochSecond() == second) {
      json.repeat(secondFrom, secondFrom + SECOND_LENGTH);
      json.digits(Math.floorMod(time.toEpochMilli(), 1_000L), 3).ascii("Z");
      return;
    }
    var text = Timestamps.format(time);
    second = time.getEpochSecond();
    // A year with more than four digits has another form.
    secondFrom = text.length() == TIMESTAMP_LENGTH ? json.size() : NOWHERE;
    json.ascii(text);
  }

  private void fields(Origin origin, boolean withoutAgent) {
    field(json, "taskId", origin.taskId());
    field(json, "parentTaskId", origin.parentTaskId());
    field(json, "rootTaskId", origin.rootTaskId());
    if (!withoutAgent) {
      field(json, "agentId", origin.agentId());
    }
    json.ascii(",\"agentLevel\":\"").ascii(origin.agentLevel().wire()).ascii("\"");
    field(json, "invocationId", origin.invocationId());
    field(json, "spawnedByCallId", origin.spawnedByCallId());
    if (origin.traceId() != null) {
      json.ascii(",\"traceId\":").string(origin.traceId());
    }
  }

  static void fields(JsonBytes json, ContentDelta delta) {
    json.ascii("\"delta\":").string(delta.delta()).ascii(",\"index\":").number(delta.index());
    field(json, "blockId", delta.blockId());
  }

  private static void field(JsonBytes json, String name, @Nullable Id id) {
    if (id != null) {
      json.ascii(",\"").ascii(name).ascii("\":\"").ascii(id.value()).ascii("\"");
    }
  }
}
