package dev.parley.socket;

import dev.parley.door.Parcel;
import dev.parley.protocol.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Consecutive events of one name, encoded once for all peers.
///
/// The monitor guards the encoded forms. For many threads.
public final class Volley {

  private final String event;
  private final List<String> arguments;
  private @Nullable Parcel packets;
  private @Nullable Parcel messages;

  /// Events with these arguments, each a JSON text.
  public Volley(String event, List<String> arguments) {
    this.event = event;
    this.arguments = List.copyOf(arguments);
  }

  /// The same batch without the first events.
  public Volley without(int first) {
    return new Volley(event, arguments.subList(first, arguments.size()));
  }

  public String event() {
    return event;
  }

  public List<String> arguments() {
    return arguments;
  }

  /// As packets of Socket.IO.
  synchronized Parcel packets() {
    var written = packets;
    if (written == null) {
      written = parcel(EnginePacket.message(IoPacket.eventHead(event)), "]");
      packets = written;
    }
    return written;
  }

  /// As messages on a plain WebSocket.
  synchronized Parcel messages() {
    var written = messages;
    if (written == null) {
      written = parcel("{\"event\":" + Json.mapper().writeValueAsString(event) + ",\"data\":", "}");
      messages = written;
    }
    return written;
  }

  private Parcel parcel(String head, String end) {
    return Parcel.of(arguments.stream().map(argument -> head + argument + end).toList());
  }
}
