package dev.parley.socketio;

import dev.parley.identity.Caller;
import dev.parley.protocol.Json;
import java.io.IOException;
import tools.jackson.databind.JsonNode;

/// The client at the other end of a connection. For many threads.
public interface SocketPeer {

  /// The id of the connection: unique, and impossible to guess.
  String id();

  /// The authenticated caller.
  Caller caller();

  /// Sends a named event. Events of one thread arrive in the order of its calls.
  ///
  /// Returns when the event is queued, and waits while the peer does not read earlier events.
  ///
  /// @throws IOException if the peer has disconnected, or was disconnected because it did not read
  /// for too long
  void emit(String event, JsonNode argument) throws IOException, InterruptedException;

  /// Sends a batch of events, which is encoded once for all peers.
  default void emitAll(SocketEventBatch socketEventBatch) throws IOException, InterruptedException {
    for (var argument : socketEventBatch.arguments()) {
      emit(socketEventBatch.event(), Json.mapper().readTree(argument));
    }
  }
}
