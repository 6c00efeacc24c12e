package dev.parley.door.agui;

import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a message or the result of a tool consists of: a text, or a list of parts.
///
/// Parts that are no text are kept as they came, and told to models in words: they cannot see them.
final class ContentParts {

  private static final int SHOWN = 200;
  private static final Set<String> SOURCES = Set.of("data", "url", "file");

  private ContentParts() {}

  /// All of it in words.
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
      case "url" -> "[" + about + ": " + shown(value) + "]";
      case "data" -> "[" + about + ", " + value.length() * 3L / 4 + " bytes, not shown]";
      default -> "[" + about + ", not shown]";
    };
  }

  private static String shown(String text) {
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }

  /// A message of the log as the protocol has it.
  static ObjectNode message(Message message) {
    var json = Json.object().put("id", message.messageId().value());
    json.put("role", message.role().wire());
    var parts = message.parts();
    if (parts == null || !parts.stream().allMatch(ContentParts::known)) {
      return json.put("content", message.content());
    }
    parts.forEach(json.putArray("content")::add);
    return json;
  }

  /// True for what the protocol knows as a part; other doors take others.
  static boolean known(JsonNode part) {
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

  /// The parts to keep: none, if it is all text.
  static List<JsonNode> kept(JsonNode content) {
    return content.isArray()
        ? StreamSupport.stream(content.spliterator(), false).toList()
        : List.of();
  }
}
