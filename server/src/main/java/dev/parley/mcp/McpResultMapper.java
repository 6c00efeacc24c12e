package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.tool.ToolResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Converts the response to a tool call to a tool result.
///
/// Text blocks become `text`, structured content becomes `structured`, and all other blocks are
/// copied to `content`, without data that is too large. Text that repeats the structured content is
/// left out.
final class McpResultMapper {

  private static final int TEXT_MAX = 40_000;
  private static final int STRUCTURED_BYTES_MAX = 48 * 1024;
  private static final int DATA_MAX = 16 * 1024;
  private static final int CONTENT_BYTES_MAX = 48 * 1024;
  private static final int ERROR_MAX = 8_000;

  private McpResultMapper() {}

  static ToolResult of(JsonNode answer) {
    var texts = new ArrayList<String>();
    var others = new ArrayList<ObjectNode>();
    for (var block : answer.path("content")) {
      if (block.path("type").asString("").equals("text")) {
        texts.add(block.path("text").asString(""));
      } else if (block instanceof ObjectNode object) {
        others.add(bounded(object));
      }
    }
    var text = String.join("\n", texts);
    if (answer.path("isError").asBoolean(false)) {
      return new ToolResult.Failed(error(text, answer.path("structuredContent")));
    }
    var result = Json.object();
    var structured = answer.path("structuredContent");
    var fits = structured.isContainer() && Json.bytes(structured).length <= STRUCTURED_BYTES_MAX;
    if (fits) {
      result.set("structured", structured);
    }
    if (!texts.isEmpty() && !(fits && repeats(text, structured))) {
      result.put("text", BoundedText.cut(text, TEXT_MAX));
    }
    add(others, result);
    return new ToolResult.Done(result);
  }

  private static String error(String text, JsonNode structured) {
    var said = text.isBlank() && structured.isContainer() ? structured.toString() : text;
    return BoundedText.cut(
        said.isBlank() ? "the tool failed without an error message" : said, ERROR_MAX);
  }

  private static boolean repeats(String text, JsonNode structured) {
    try {
      return Json.mapper().readTree(text).equals(structured);
    } catch (JacksonException words) {
      return false;
    }
  }

  private static void add(List<ObjectNode> blocks, ObjectNode result) {
    var room = CONTENT_BYTES_MAX;
    var left = 0;
    var content = Json.mapper().createArrayNode();
    for (var block : blocks) {
      room -= Json.bytes(block).length;
      if (room < 0) {
        left++;
      } else {
        content.add(block);
      }
    }
    if (!content.isEmpty()) {
      result.set("content", content);
    }
    if (left > 0) {
      result.put("omitted", left + " more blocks, which are too large");
    }
  }

  /// A block without protocol metadata (`_` fields) and without data that is too large.
  private static ObjectNode bounded(ObjectNode block) {
    var kept =
        block.properties().stream()
            .filter(field -> !field.getKey().startsWith("_"))
            .collect(Collectors.toMap(field -> field.getKey(), field -> field.getValue()));
    var copy = Json.object();
    copy.setAll(kept);
    cut(copy, "data");
    if (block.path("resource") instanceof ObjectNode resource) {
      var inner = resource.deepCopy();
      cut(inner, "blob");
      cut(inner, "text");
      copy.set("resource", inner);
    }
    return copy;
  }

  private static void cut(ObjectNode node, String field) {
    var length = node.path(field).asString("").length();
    if (length > DATA_MAX) {
      node.remove(field);
      node.put("omitted", field + ", which has " + length + " characters");
    }
  }
}
