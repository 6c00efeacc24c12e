package dev.parley.socketio;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// Creates sessions for tests: they echo, count, flood, reject and fail.
final class EchoSessionFactory implements SocketSession.SocketSessionFactory {

  final Map<String, SocketPeer> peers = new ConcurrentHashMap<>();
  final LinkedBlockingQueue<String> ended = new LinkedBlockingQueue<>();
  final LinkedBlockingQueue<String> cut = new LinkedBlockingQueue<>();
  final AtomicLong flooded = new AtomicLong();

  @Override
  public SocketSession connect(SocketPeer socketPeer) {
    peers.put(socketPeer.id(), socketPeer);
    emit(
        socketPeer,
        "connected",
        Json.object().put("clientId", socketPeer.id()).put("who", socketPeer.caller().principal()));
    return new SocketSession() {
      @Override
      public JsonNode onEvent(String event, JsonNode argument) {
        return EchoSessionFactory.this.handle(socketPeer, event, argument);
      }

      @Override
      public void onDisconnect() {
        peers.remove(socketPeer.id());
        ended.add(socketPeer.id());
      }
    };
  }

  private JsonNode handle(SocketPeer socketPeer, String event, JsonNode argument) {
    switch (event) {
      case "echo" -> emit(socketPeer, "echoed", argument);
      case "count" -> {
        for (var i = 1; i <= argument.asInt(); i++) {
          emit(socketPeer, "number", Json.mapper().getNodeFactory().numberNode(i));
        }
      }
      case "flood" -> Thread.ofVirtual().start(() -> flood(socketPeer));
      case "refuse" -> throw new Rejection.Conflict("nope", "this cannot be");
      case "fail" -> throw new IllegalStateException("secret");
      default -> {
        return NullNode.getInstance();
      }
    }
    return argument;
  }

  private void flood(SocketPeer socketPeer) {
    var large = Json.object().put("large", "x".repeat(10_000));
    try {
      while (true) {
        socketPeer.emit("flood", large);
        flooded.incrementAndGet();
      }
    } catch (IOException | InterruptedException left) {
      cut.add(socketPeer.id());
    }
  }

  private static void emit(SocketPeer socketPeer, String event, JsonNode argument) {
    try {
      socketPeer.emit(event, argument);
    } catch (IOException | InterruptedException left) {
      throw new Rejection.Unavailable("the peer has disconnected");
    }
  }
}
