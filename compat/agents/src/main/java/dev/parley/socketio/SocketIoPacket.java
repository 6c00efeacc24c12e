package dev.parley.socketio;

import dev.parley.http.WebSocketConnection;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A packet of Socket.IO 5, which is sent in an Engine.IO message. `id` is present if an
/// acknowledgement is requested.
///
/// [The
/// protocol](https://github.com/socketio/socket.io/blob/main/docs/socket.io-protocol/v5-current.md)
record SocketIoPacket(Type type, String namespace, @Nullable Long id, @Nullable JsonNode data) {

  static final String MAIN = "/";

  private static final int ID_DIGITS = 15;

  /// Event names that clients reserve; they must not be sent.
  private static final Set<String> RESERVED =
      Set.of(
          "connect",
          "connect_error",
          "disconnect",
          "disconnecting",
          "newListener",
          "removeListener");

  /// The types of packets, in the order of their numbers.
  enum Type {
    CONNECT,
    DISCONNECT,
    EVENT,
    ACK,
    CONNECT_ERROR,
    BINARY_EVENT,
    BINARY_ACK
  }

  private static final List<Type> TYPES = List.of(Type.values());

  static SocketIoPacket event(String name, JsonNode argument) {
    var data = Json.mapper().createArrayNode().add(name).add(argument);
    return new SocketIoPacket(Type.EVENT, MAIN, null, data);
  }

  /// The start of an event's packet; the argument and `]` follow.
  static String eventHead(String name) {
    var head = new SocketIoPacket(Type.EVENT, MAIN, null, null).encode();
    return head + "[" + Json.mapper().writeValueAsString(name) + ",";
  }

  static SocketIoPacket ack(long id, JsonNode argument) {
    return new SocketIoPacket(Type.ACK, MAIN, id, Json.mapper().createArrayNode().add(argument));
  }

  String encode() {
    var text = new StringBuilder().append(TYPES.indexOf(type));
    if (!namespace.equals(MAIN)) {
      text.append(namespace).append(',');
    }
    if (id != null) {
      text.append(id);
    }
    return data == null
        ? text.toString()
        : text.append(Json.mapper().writeValueAsString(data)).toString();
  }

  /// @throws Rejection.Invalid if this is not a packet, or not well formed
  static SocketIoPacket decode(String text) {
    var number = text.isEmpty() ? -1 : text.charAt(0) - '0';
    if (number < 0 || number >= TYPES.size()) {
      throw wrong("this is not a packet of Socket.IO 5");
    }
    var type = TYPES.get(number);
    if (type == Type.BINARY_EVENT || type == Type.BINARY_ACK) {
      throw wrong("only text is supported");
    }
    var at = 1;
    var namespace = MAIN;
    if (at < text.length() && text.charAt(at) == '/') {
      var comma = text.indexOf(',', at);
      namespace = text.substring(at, comma < 0 ? text.length() : comma);
      at = comma < 0 ? text.length() : comma + 1;
    }
    var digits = at;
    while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
      digits++;
    }
    if (digits - at > ID_DIGITS) {
      throw wrong("the id of a packet has too many digits");
    }
    var id = digits == at ? null : Long.valueOf(text.substring(at, digits));
    var data =
        digits == text.length() ? null : WebSocketConnection.parseJson(text.substring(digits));
    return new SocketIoPacket(type, namespace, id, data).checked();
  }

  private SocketIoPacket checked() {
    var good =
        switch (type) {
          case CONNECT -> data == null || data.isObject();
          case DISCONNECT -> data == null;
          case EVENT ->
              data != null
                  && data.isArray()
                  && data.path(0).isString()
                  && !RESERVED.contains(data.path(0).asString());
          case ACK -> data != null && data.isArray() && id != null;
          case CONNECT_ERROR, BINARY_EVENT, BINARY_ACK -> false;
        };
    if (!good) {
      throw wrong("this packet of Socket.IO 5 is not well formed");
    }
    return this;
  }

  private static Rejection wrong(String message) {
    return new Rejection.Invalid(message);
  }
}
