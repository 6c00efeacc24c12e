package dev.parley.socket;

import dev.parley.protocol.Rejection;
import tools.jackson.databind.JsonNode;

/// What a door makes of one connection.
public interface Visit {

  /// Receives visitors.
  @FunctionalInterface
  interface Host {

    /// Somebody has come. What is emitted in here comes first on the connection.
    Visit welcome(Peer peer);
  }

  /// The peer said something. Called for one event at a time, in the order in which they were said.
  ///
  /// @return what the peer is told if it asked for an acknowledgement
  /// @throws Rejection if this cannot be done; the peer is told, and stays
  JsonNode hear(String event, JsonNode argument);

  /// The peer has left. Called once, after the last event.
  void end();
}
