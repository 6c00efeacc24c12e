package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
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
    throw A2aException.invalid("the body must be a JSON object");
  }

  /// Converts field names as ProtoJSON does: `page_size` is `pageSize`. Free-form values keep their
  /// names.
  static final class ProtoJsonNames {

    private static final Set<String> FREE_FORM = Set.of("metadata", "data");
    private static final Pattern UPPER = Pattern.compile("[A-Z]");

    private ProtoJsonNames() {}

    static ObjectNode toCamelCase(ObjectNode json) {
      var camel = Json.object();
      json.forEachEntry(
          (name, value) ->
              camel.set(camelCase(name), FREE_FORM.contains(name) ? value : toCamelCase(value)));
      return camel;
    }

    /// Converts a name back: `pageSize` to `page_size`.
    static String toSnakeCase(String name) {
      return UPPER.matcher(name).replaceAll("_$0").toLowerCase(Locale.ROOT);
    }

    private static JsonNode toCamelCase(JsonNode value) {
      return switch (value) {
        case ObjectNode object -> toCamelCase(object);
        case ArrayNode list -> {
          var all = Json.mapper().createArrayNode();
          list.forEach(one -> all.add(toCamelCase(one)));
          yield all;
        }
        default -> value;
      };
    }

    private static String camelCase(String name) {
      var text = new StringBuilder();
      for (var i = 0; i < name.length(); i++) {
        var c = name.charAt(i);
        if (c == '_' && i > 0 && i + 1 < name.length()) {
          i++;
          text.append(Character.toUpperCase(name.charAt(i)));
        } else {
          text.append(c);
        }
      }
      return text.toString();
    }
  }
}
