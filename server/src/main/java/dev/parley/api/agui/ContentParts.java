package dev.parley.api.agui;

import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The content of a message or a tool result: a text, or a list of parts.
///
/// Parts that are not text are stored unchanged. Models cannot see them, and get a description in
/// text instead.
final class ContentParts {

  private static final int SHOWN_MAX = 200;
  private static final Set<String> SOURCES = Set.of("data", "url", "file");

  private ContentParts() {}

  /// The content as text.
  static String text(JsonNode content) {
    return content.isString()
        ? content.asString()
        : StreamSupport.stream(content.spliterator(), false)
            .map(ContentParts::part)
            .filter(text -> !text.isEmpty())
            .collect(Collectors.joining("\n"));
  }

  private static String part(JsonNode part) {
    var type = part.path("type").asString("");
    if (type.equals("text")) {
      return part.path("text").asString("");
    }
    var source = part.path("source");
    var mime = source.path("mimeType").asString("");
    var about = mime.isEmpty() ? type : type + ", " + mime;
    var value = source.path("value").asString("");
    return switch (source.path("type").asString("")) {
      case "url" -> "[" + about + ": " + shortened(value) + "]";
      case "data" -> "[" + about + ", " + value.length() * 3L / 4 + " bytes, not shown]";
      default -> "[" + about + ", not shown]";
    };
  }

  private static String shortened(String text) {
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
  }

  /// A message of the log as an AG-UI message.
  static ObjectNode message(Message message) {
    var json = Json.object().put("id", message.messageId().value());
    json.put("role", message.role().wire());
    var parts = message.parts();
    if (parts == null || !parts.stream().allMatch(ContentParts::isKnownPart)) {
      return json.put("content", message.content());
    }
    parts.forEach(json.putArray("content")::add);
    return json;
  }

  /// True if this is a part of the protocol. Messages of other APIs may have other parts.
  static boolean isKnownPart(JsonNode part) {
    var source = part.path("source");
    return switch (part.path("type").asString("")) {
      case "text" -> part.path("text").isString();
      case "image", "audio", "video", "document" ->
          source.path("value").isString()
              && SOURCES.contains(source.path("type").asString(""))
              && (source.path("mimeType").isString()
                  || (source.path("mimeType").isMissingNode()
                      && !source.path("type").asString("").equals("data")));
      default -> false;
    };
  }

  /// The parts to store: none if the content is a plain string.
  static List<JsonNode> storedParts(JsonNode content) {
    return content.isArray()
        ? StreamSupport.stream(content.spliterator(), false).toList()
        : List.of();
  }
}
