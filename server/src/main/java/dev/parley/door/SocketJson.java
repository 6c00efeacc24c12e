package dev.parley.door;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/// Reads JSON that came on a socket, by the rules for the bodies of requests.
public final class SocketJson {

  private SocketJson() {}

  /// The value that the text is.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or could not be stored
  public static JsonNode read(String text) {
    var node = Json.read(text.getBytes(StandardCharsets.UTF_8), JsonNode.class);
    if (node.isMissingNode()) {
      throw new Rejection.Invalid("invalid-json", "JSON is needed");
    }
    Body.checkSurrogates(node);
    return node;
  }
}
