package dev.parley.stream;

import dev.parley.protocol.Entry;
import dev.parley.protocol.EntryJsonWriter;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.node.ObjectNode;

/// The native format: events as the log stores them.
public final class NativeFormat implements EventFormat {

  /// The only instance: frames are cached by the identity of the format.
  public static final EventFormat INSTANCE = new NativeFormat();

  @Override
  public boolean selfContained() {
    return true;
  }

  @Override
  public byte[] json(Entry entry) {
    return EventJson.bytes(entry);
  }

  @Override
  public byte[] frame(Entry entry) {
    var frame = new EntryJsonWriter(FramePage.FRAME_USUAL);
    write(entry, frame);
    return frame.toArray();
  }

  @Override
  public void write(Entry entry, EntryJsonWriter frames) {
    SseFrames.writeHead(frames, entry.position(), name(entry));
    frames.entry(entry).ascii(SseFrames.END);
  }

  /// The text before the JSON in an entry's frame; plain ASCII.
  static String head(Entry entry) {
    return SseFrames.head(entry.position(), name(entry));
  }

  @Override
  public byte[] merged(Entry entry, long from) {
    var json = EventJson.bytes(entry);
    var field = (",\"fromSeq\":" + from + "}").getBytes(StandardCharsets.US_ASCII);
    var longer = ByteBuffer.allocate(json.length - 1 + field.length);
    longer.put(json, 0, json.length - 1).put(field);
    return SseFrames.frame(entry.position(), name(entry), longer.array());
  }

  @Override
  public byte[] open(StreamOpening streamOpening) {
    var fields = Json.object().put("contextId", streamOpening.context().value());
    if (streamOpening.extraFields() != null) {
      fields.setAll(streamOpening.extraFields());
    }
    fields.put("heartbeatMs", streamOpening.heartbeat().toMillis());
    fields.putPOJO("head", streamOpening.head());
    return SseFrames.withRetry(note("stream-open", streamOpening.position(), fields));
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    var fields = Json.object().put("reason", reason);
    if (!requested.isEmpty()) {
      fields.put("requested", requested);
    }
    return note("stream-gap", position, fields);
  }

  private static String name(Entry entry) {
    return entry.kind().sseName();
  }

  private static byte[] note(String kind, Position position, ObjectNode fields) {
    var json = Json.object().put("kind", kind);
    json.setAll(fields);
    json.putPOJO("position", position);
    return SseFrames.frame(position, kind, Json.bytes(json));
  }
}
