package dev.parley.api.openai;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.stream.ProjectedStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// Streams the events of a response after a sequence number. Earlier events are only computed. For
/// one thread.
final class ResponseEventStream implements ProjectedStream.EntryEncoder {

  static final byte[] OPEN = ": ok\n\n".getBytes(StandardCharsets.US_ASCII);
  static final byte[] HEARTBEAT = ": heartbeat\n\n".getBytes(StandardCharsets.US_ASCII);

  private final ResponseProjection projection;
  private final long startingAfter;

  /// @param startingAfter the number of the last event that the client has; -1 for none
  ResponseEventStream(ResponseProjection projection, long startingAfter) {
    this.projection = projection;
    this.startingAfter = startingAfter;
  }

  @Override
  public byte[] open() {
    return OPEN.clone();
  }

  @Override
  public byte[] frames(Entry entry) {
    var bytes = new ByteArrayOutputStream();
    for (var event : projection.apply(entry)) {
      if (event.path("sequence_number").asLong() > startingAfter) {
        bytes.writeBytes(frame(event.path("type").asString(), Json.bytes(event)));
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] frame(String type, byte[] json) {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(("event: " + type + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
    bytes.writeBytes(json);
    bytes.writeBytes("\n\n".getBytes(StandardCharsets.US_ASCII));
    return bytes.toByteArray();
  }

  @Override
  public boolean ended(boolean atEnd) {
    return projection.ended();
  }

  @Override
  public byte[] heartbeat() {
    return HEARTBEAT.clone();
  }

  @Override
  public byte[] deleted() {
    var error = Json.object().put("type", "error").put("code", "deleted");
    error.put("message", "the conversation was deleted").putNull("param");
    return frame("error", Json.bytes(error.put("sequence_number", startingAfter + 1)));
  }
}
