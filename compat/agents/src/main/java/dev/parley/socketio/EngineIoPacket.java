package dev.parley.socketio;

import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;

/// A packet of Engine.IO 4, which carries messages and keeps a connection alive.
///
/// [The
/// protocol](https://github.com/socketio/socket.io/blob/main/docs/engine.io-protocol/v4-current.md)
record EngineIoPacket(Type type, String data) {

  /// Separates the packets of one body.
  static final char SEPARATOR = '\u001e';

  private static final int PACKETS_MAX = 10_000;

  /// The types of packets, in the order of their numbers.
  enum Type {
    OPEN,
    CLOSE,
    PING,
    PONG,
    MESSAGE,
    UPGRADE,
    NOOP
  }

  private static final List<Type> TYPES = List.of(Type.values());

  static String open(String data) {
    return new EngineIoPacket(Type.OPEN, data).encode();
  }

  static String message(String data) {
    return new EngineIoPacket(Type.MESSAGE, data).encode();
  }

  static String bare(Type type) {
    return new EngineIoPacket(type, "").encode();
  }

  String encode() {
    return TYPES.indexOf(type) + data;
  }

  /// @throws Rejection.Invalid if this is not a packet
  static EngineIoPacket decode(String text) {
    if (text.startsWith("b")) {
      throw new Rejection.Invalid("only text is supported");
    }
    var number = text.isEmpty() ? -1 : text.charAt(0) - '0';
    if (number < 0 || number >= TYPES.size()) {
      throw new Rejection.Invalid("this is not a packet of Engine.IO 4");
    }
    return new EngineIoPacket(TYPES.get(number), text.substring(1));
  }

  /// Decodes all packets of a body.
  ///
  /// @throws Rejection.Invalid if one of them is malformed
  static List<EngineIoPacket> decodeAll(String body) {
    var packets = new ArrayList<EngineIoPacket>();
    for (var from = 0; from <= body.length(); ) {
      var found = body.indexOf(SEPARATOR, from);
      var to = found < 0 ? body.length() : found;
      packets.add(decode(body.substring(from, to)));
      if (packets.size() > PACKETS_MAX) {
        throw new Rejection.Invalid("a body can have at most " + PACKETS_MAX + " packets");
      }
      from = to + 1;
    }
    return packets;
  }
}
