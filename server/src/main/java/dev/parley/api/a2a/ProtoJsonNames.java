package dev.parley.api.a2a;

import dev.parley.protocol.Json;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Converts field names as ProtoJSON does: `page_size` is `pageSize`. Free-form values keep their
/// names.
final class ProtoJsonNames {

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
