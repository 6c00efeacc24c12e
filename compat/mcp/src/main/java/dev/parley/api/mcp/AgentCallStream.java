package dev.parley.api.mcp;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
import dev.parley.stream.SseFrames;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Streams the messages of a call after a cursor. For one thread.
final class AgentCallStream implements ProjectedStream.EntryEncoder {

  private static final byte[] OPEN = ": ok\n\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] HEARTBEAT = ": heartbeat\n\n".getBytes(StandardCharsets.US_ASCII);

  private final AgentCall call;
  private final AgentCallProjection projection;
  private final @Nullable FrameCursor after;

  /// @param after the last frame that the client has; null for none
  AgentCallStream(AgentCall call, @Nullable FrameCursor after) {
    this.call = call;
    this.projection = new AgentCallProjection(call);
    this.after = after;
  }

  @Override
  public byte[] open() {
    if (after != null) {
      return OPEN.clone();
    }
    // The first frame has an id, so that a client can continue before anything has happened.
    var cursor = FrameCursor.of(call.from()).toString();
    var frame = "id: " + call.frameId(cursor) + "\ndata: \n\n";
    return SseFrames.withRetry(frame.getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public byte[] frames(Entry entry) {
    var messages = projection.apply(entry);
    var bytes = new ByteArrayOutputStream();
    var cursors = FrameCursor.each(entry.position().toString(), messages.size());
    for (var i = 0; i < messages.size(); i++) {
      var cursor = cursors.get(i);
      if (after == null || cursor.after(after)) {
        bytes.writeBytes(
            SseFrames.frame(
                call.frameId(cursor.toString()), "message", Json.bytes(messages.get(i))));
      }
    }
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
    var error =
        McpReply.error(
            call.requestId(), McpReply.RESOURCE_NOT_FOUND, "the context of the call was deleted");
    return SseFrames.frame(call.frameId(Position.START.toString()), "message", Json.bytes(error));
  }
}
