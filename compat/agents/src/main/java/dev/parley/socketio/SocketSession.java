package dev.parley.socketio;

import dev.parley.protocol.Rejection;
import tools.jackson.databind.JsonNode;

/// An API's session on one connection.
public interface SocketSession {

  /// Creates sessions.
  @FunctionalInterface
  interface SocketSessionFactory {

    /// Creates the session of a new peer. Events that this method emits are the first on the
    /// connection.
    SocketSession connect(SocketPeer socketPeer);
  }

  /// Handles an event of the peer. Called for one event at a time, in the order of arrival.
  ///
  /// @return the acknowledgement, which is sent if the peer requested one
  /// @throws Rejection if the event is rejected; the peer gets an error, and stays connected
  JsonNode onEvent(String event, JsonNode argument);

  /// The peer has disconnected. Called once, after the last event.
  void onDisconnect();
}
