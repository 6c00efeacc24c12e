package dev.parley.http;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A WebSocket connection: both sides send text messages at any time.
///
/// One thread receives; any thread may send or close.
public interface WebSocketConnection {

  /// Serves a connection, on its own virtual thread.
  @FunctionalInterface
  interface WebSocketHandler {

    /// Serves the connection. It is closed when this returns.
    ///
    /// @throws IOException if the peer has disconnected, or no longer reads
    void handle(WebSocketConnection webSocketConnection) throws IOException, InterruptedException;
  }

  /// Waits for the next message. Null if either side has closed the connection.
  @Nullable String receive() throws InterruptedException;

  /// Sends these messages in this order, and returns when they are handed to the network.
  ///
  /// Waits while the peer does not read. Messages of several threads are sent in the order of their
  /// calls.
  ///
  /// @throws IOException if the peer has disconnected, or was disconnected because it did not read
  /// for too long
  void send(List<EncodedFrames> parcels) throws IOException, InterruptedException;

  /// Sends a message.
  default void send(String text) throws IOException, InterruptedException {
    send(List.of(EncodedFrames.of(text)));
  }

  /// Closes the connection with a reason. Does not wait; [#receive] returns null from now on.
  ///
  /// @param code a close code of RFC 6455, such as 1000
  void close(int code, String reason);
}
