package dev.parley.socketio;

import dev.parley.http.EncodedFrames;
import dev.parley.protocol.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Consecutive events of one name, encoded once for all peers.
///
/// The monitor guards the encoded forms. For many threads.
public final class SocketEventBatch {

  private final String event;
  private final List<String> arguments;
  private @Nullable EncodedFrames packets;
  private @Nullable EncodedFrames messages;

  /// Events with these arguments, each a JSON text.
  public SocketEventBatch(String event, List<String> arguments) {
    this.event = event;
    this.arguments = List.copyOf(arguments);
  }

  /// The same batch without the first events.
  public SocketEventBatch without(int first) {
    return new SocketEventBatch(event, arguments.subList(first, arguments.size()));
  }

  public String event() {
    return event;
  }

  public List<String> arguments() {
    return arguments;
  }

  /// As packets of Socket.IO.
  synchronized EncodedFrames packets() {
    var written = packets;
    if (written == null) {
      written = parcel(EngineIoPacket.message(SocketIoPacket.eventHead(event)), "]");
      packets = written;
    }
    return written;
  }

  /// As messages on a plain WebSocket.
  synchronized EncodedFrames messages() {
    var written = messages;
    if (written == null) {
      written = parcel("{\"event\":" + Json.mapper().writeValueAsString(event) + ",\"data\":", "}");
      messages = written;
    }
    return written;
  }

  private EncodedFrames parcel(String head, String end) {
    return EncodedFrames.of(arguments.stream().map(argument -> head + argument + end).toList());
  }
}
