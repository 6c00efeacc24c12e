package dev.parley.door;

import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.node.ObjectNode;

/// Frames of a stream of server-sent events. Lines end in LF.
final class Frames {

  private static final byte[] DATA = ascii("\ndata: ");
  private static final byte[] END = ascii("\n\n");
  private static final int RECONNECT_MILLIS = 1000;

  private Frames() {}

  static byte[] entry(Entry entry) {
    var kind = entry.event().kind().sseName();
    return EventJson.bytes(
        "id: " + entry.position() + "\nevent: " + kind + "\ndata: ", entry, "\n\n");
  }

  /// Several deltas as one, which stands where the last of them does; `from` is the first one's seq.
  static byte[] merged(Entry entry, long from) {
    var json = EventJson.bytes(entry);
    var field = ascii(",\"fromSeq\":" + from + "}");
    var longer = ByteBuffer.allocate(json.length - 1 + field.length);
    longer.put(json, 0, json.length - 1).put(field);
    return frame(entry, longer.array());
  }

  /// Tells the reader where it stands before anything has happened.
  static byte[] open(Position position, ObjectNode fields) {
    var first = ascii("retry: " + RECONNECT_MILLIS + "\n");
    return join(first, note("stream-open", position, fields));
  }

  /// Tells the reader that it does not get what it asked for.
  static byte[] gap(Position position, String reason, String requested) {
    var fields = Json.object().put("reason", reason);
    if (!requested.isEmpty()) {
      fields.put("requested", requested);
    }
    return note("stream-gap", position, fields);
  }

  /// Moves the reader's cursor and keeps the connection alive. It is no event to an `EventSource`.
  static byte[] heartbeat(Position position) {
    return ascii("id: " + position + "\n: heartbeat\n\n");
  }

  private static byte[] note(String kind, Position position, ObjectNode fields) {
    var json = Json.object().put("kind", kind);
    json.setAll(fields);
    json.putPOJO("position", position);
    return frame(position, kind, Json.bytes(json));
  }

  private static byte[] frame(Entry entry, byte[] json) {
    return frame(entry.position(), entry.event().kind().sseName(), json);
  }

  private static byte[] frame(Position position, String event, byte[] json) {
    return join(ascii("id: " + position + "\nevent: " + event), DATA, json, END);
  }

  private static byte[] join(byte[]... parts) {
    var size = 0;
    for (var part : parts) {
      size += part.length;
    }
    var all = ByteBuffer.allocate(size);
    for (var part : parts) {
      all.put(part);
    }
    return all.array();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
