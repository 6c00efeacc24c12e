package dev.parley.http;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/// Parses JSON messages of a WebSocket, by the rules for request bodies.
public final class SocketJson {

  private SocketJson() {}

  /// The JSON value of the text.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or has an unpaired surrogate
  public static JsonNode read(String text) {
    var node = Json.read(text.getBytes(StandardCharsets.UTF_8), JsonNode.class);
    if (node.isMissingNode()) {
      throw new Rejection.Invalid("invalid-json", "JSON is needed");
    }
    RequestBody.checkSurrogates(node);
    return node;
  }
}
