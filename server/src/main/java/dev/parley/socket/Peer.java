package dev.parley.socket;

import dev.parley.protocol.Json;
import java.io.IOException;
import tools.jackson.databind.JsonNode;

/// Whoever is on the other side of a connection. For many threads.
public interface Peer {

  /// What the connection is called: new for each, and not to be guessed.
  String id();

  /// Who it is.
  String principal();

  /// Sends a named event; events that one thread sends arrive in its order.
  ///
  /// Returns when the event is on its way, and waits while the peer does not read what was sent before.
  ///
  /// @throws IOException if the peer has left, or has not read for too long and was sent away
  void emit(String event, JsonNode argument) throws IOException, InterruptedException;

  /// The same, of many events that were written before, for all who are told them.
  default void emitAll(Volley volley) throws IOException, InterruptedException {
    for (var argument : volley.arguments()) {
      emit(volley.event(), Json.mapper().readTree(argument));
    }
  }
}
