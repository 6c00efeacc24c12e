package dev.parley.http;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

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

  /// Parses a message as JSON, by the rules for request bodies.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or has an unpaired surrogate
  static JsonNode parseJson(String text) {
    var node = Json.read(text.getBytes(StandardCharsets.UTF_8), JsonNode.class);
    if (node.isMissingNode()) {
      throw new Rejection.Invalid("invalid-json", "JSON is needed");
    }
    RequestBody.checkSurrogates(node);
    return node;
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
