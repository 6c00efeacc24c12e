package dev.parley.external.cli;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads lines that should be JSON objects, and their fields.
final class JsonLine {

  /// Escape sequences for terminals: colours, cursor movements and titles.
  private static final Pattern TERMINAL =
      Pattern.compile(
          "\\x1B(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1B]*(?:\\x07|\\x1B\\\\)|[@-Z\\\\-_])");

  private JsonLine() {}

  /// The JSON object in a line; empty if the line contains something else.
  static Optional<ObjectNode> parse(String line) {
    var text = line.strip();
    if (text.indexOf('\u001B') >= 0) {
      // Inside JSON it would be escaped.
      text = TERMINAL.matcher(text).replaceAll("").strip();
    }
    if (text.startsWith("\uFEFF")) {
      text = text.substring(1);
    }
    if (!text.startsWith("{")) {
      return Optional.empty();
    }
    try {
      return Optional.of(Json.read(text.getBytes(StandardCharsets.UTF_8), ObjectNode.class));
    } catch (Rejection.Invalid broken) {
      return Optional.empty();
    }
  }

  /// A text; null if it is missing, something else, or empty.
  static @Nullable String text(JsonNode node) {
    return node.isString() && !node.asString().isEmpty() ? node.asString() : null;
  }

  /// A text; `otherwise` if it is missing or something else.
  static String textOr(JsonNode node, String otherwise) {
    return node.isString() ? node.asString() : otherwise;
  }

  /// A count; 0 if it is missing, something else, or negative.
  static long count(JsonNode node) {
    return node.isIntegralNumber() && node.canConvertToLong() ? Math.max(0, node.asLong()) : 0;
  }

  /// An amount of money; null if it is missing, something else, or negative.
  static @Nullable BigDecimal money(JsonNode node) {
    return node.isNumber() && node.decimalValue().signum() >= 0 ? node.decimalValue() : null;
  }

  /// An object; an empty one if it is missing or something else.
  static ObjectNode object(JsonNode node) {
    return node instanceof ObjectNode object ? object : Json.object();
  }
}
