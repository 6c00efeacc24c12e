package dev.parley.stream;

import dev.parley.protocol.EntryJsonWriter;
import dev.parley.protocol.Position;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Encodes frames of a stream of server-sent events. Lines end in LF.
public final class SseFrames {

  static final String END = "\n\n";

  private static final int RECONNECT_MILLIS = 1000;

  private SseFrames() {}

  /// A frame with one line of JSON. The event's name is plain ASCII.
  public static byte[] frame(Position position, String event, byte[] json) {
    return frame(position.toString(), event, json);
  }

  /// A frame in a stream whose cursors are not positions.
  public static byte[] frame(String id, String event, byte[] json) {
    return join(ascii(head(id, event)), json, ascii(END));
  }

  /// A frame without an event name, which an `EventSource` treats as `message`.
  public static byte[] unnamed(String id, byte[] json) {
    return join(ascii("id: " + id + "\ndata: "), json, ascii(END));
  }

  /// Sets the reader's cursor, without an event.
  public static byte[] cursor(String id) {
    return ascii("id: " + id + "\n: ok" + END);
  }

  /// The first frame for a reader that has no cursor yet: only the reconnection time.
  public static byte[] empty() {
    return withRetry(ascii(": ok" + END));
  }

  /// The first frame of a stream, with the reconnection time.
  public static byte[] withRetry(byte[] frame) {
    return join(ascii("retry: " + RECONNECT_MILLIS + "\n"), frame);
  }

  /// The text before a frame's JSON.
  static String head(Position position, String event) {
    return head(position.toString(), event);
  }

  /// Writes the same text behind earlier frames.
  static void writeHead(EntryJsonWriter frames, Position position, String event) {
    frames.ascii("id: ").position(position).ascii("\nevent: ").ascii(event).ascii("\ndata: ");
  }

  private static String head(String id, String event) {
    return "id: " + id + "\nevent: " + event + "\ndata: ";
  }

  /// Moves the reader's cursor and keeps the connection alive. An `EventSource` does not report it.
  public static byte[] heartbeat(Position position) {
    return heartbeat(position.toString());
  }

  /// The same in a stream whose cursors are not positions.
  public static byte[] heartbeat(String id) {
    return ascii("id: " + id + "\n: heartbeat" + END);
  }

  /// A heartbeat for a reader that has no cursor yet.
  public static byte[] heartbeat() {
    return ascii(": heartbeat" + END);
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
