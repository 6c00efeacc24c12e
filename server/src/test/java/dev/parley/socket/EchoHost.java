package dev.parley.socket;

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
final class EchoHost implements Visit.Host {

  final Map<String, Peer> peers = new ConcurrentHashMap<>();
  final LinkedBlockingQueue<String> ended = new LinkedBlockingQueue<>();
  final LinkedBlockingQueue<String> cut = new LinkedBlockingQueue<>();
  final AtomicLong flooded = new AtomicLong();

  @Override
  public Visit welcome(Peer peer) {
    peers.put(peer.id(), peer);
    emit(peer, "connected", Json.object().put("clientId", peer.id()).put("who", peer.principal()));
    return new Visit() {
      @Override
      public JsonNode hear(String event, JsonNode argument) {
        return EchoHost.this.hear(peer, event, argument);
      }

      @Override
      public void end() {
        peers.remove(peer.id());
        ended.add(peer.id());
      }
    };
  }

  private JsonNode hear(Peer peer, String event, JsonNode argument) {
    switch (event) {
      case "echo" -> emit(peer, "echoed", argument);
      case "count" -> {
        for (var i = 1; i <= argument.asInt(); i++) {
          emit(peer, "number", Json.mapper().getNodeFactory().numberNode(i));
        }
      }
      case "flood" -> Thread.ofVirtual().start(() -> flood(peer));
      case "refuse" -> throw new Rejection.Conflict("nope", "this cannot be");
      case "fail" -> throw new IllegalStateException("secret");
      default -> {
        return NullNode.getInstance();
      }
    }
    return argument;
  }

  private void flood(Peer peer) {
    var large = Json.object().put("large", "x".repeat(10_000));
    try {
      while (true) {
        peer.emit("flood", large);
        flooded.incrementAndGet();
      }
    } catch (IOException | InterruptedException left) {
      cut.add(peer.id());
    }
  }

  private static void emit(Peer peer, String event, JsonNode argument) {
    try {
      peer.emit(event, argument);
    } catch (IOException | InterruptedException left) {
      throw new Rejection.Unavailable("the peer has disconnected");
    }
  }
}
