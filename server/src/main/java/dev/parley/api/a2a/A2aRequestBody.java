package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads request bodies.
final class A2aRequestBody {

  /// The content type of JSON in 1.0.1.
  static final String A2A_JSON = "application/a2a+json";

  static final String JSON = "application/json";

  private static final Set<String> TYPES = Set.of(JSON, A2A_JSON);

  private A2aRequestBody() {}

  /// The body as JSON.
  ///
  /// @throws A2aException if the body is not JSON, or has another content type
  static JsonNode read(Request request) {
    var type = request.header("Content-Type").orElse("");
    var plain = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!plain.isEmpty() && !TYPES.contains(plain)) {
      throw new A2aException(
          A2aError.CONTENT_TYPE_NOT_SUPPORTED,
          "Incompatible content types: the body must be sent as "
              + JSON
              + " or "
              + A2A_JSON
              + ", not as "
              + type);
    }
    try {
      return Json.read(request.json(TYPES), JsonNode.class);
    } catch (Rejection.Invalid malformed) {
      throw new A2aException(A2aError.PARSE, "Invalid JSON payload: " + malformed.getMessage());
    }
  }

  /// The body as an object, an empty one if there is no body.
  ///
  /// @throws A2aException if the body is anything else
  static ObjectNode object(Request request) {
    if (request.text().isBlank()) {
      return Json.object();
    }
    if (read(request) instanceof ObjectNode object) {
      return ProtoJsonNames.toCamelCase(object);
    }
    throw new A2aException(A2aError.INVALID_PARAMS, "the body must be a JSON object");
  }
}
