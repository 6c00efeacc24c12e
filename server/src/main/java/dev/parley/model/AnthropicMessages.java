package dev.parley.model;

import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Converts a conversation to messages of Anthropic's Messages API. User and assistant alternate;
/// the first and the last message are the user's. Thinking blocks are returned unchanged and in
/// their original order.
final class AnthropicMessages {

  private static final String THINKING = "thinking";
  private static final String REDACTED = "redacted_thinking";

  private final String model;
  private final WireNames names;
  private final boolean thoughts;
  private final ArrayNode messages = Json.mapper().createArrayNode();

  /// If `thoughts` is true, earlier thinking blocks are included.
  AnthropicMessages(String model, WireNames names, boolean thoughts) {
    this.model = model;
    this.names = names;
    this.thoughts = thoughts;
  }

  ArrayNode of(List<ModelTurn> turns) {
    for (var modelTurn : turns) {
      switch (modelTurn) {
        case ModelTurn.UserTurn(var text) -> text(content("user"), text);
        case ModelTurn.SystemTurn(var text) ->
            text(content("user"), "<system>\n" + text.strip() + "\n</system>");
        case ModelTurn.AssistantTurn assistantTurn -> assistant(assistantTurn);
      }
    }
    if (messages.isEmpty() || !role(messages.size() - 1).equals("user")) {
      text(content("user"), "Go on.");
    }
    var last = messages.get(messages.size() - 1).path("content");
    cache((ObjectNode) last.get(last.size() - 1));
    return messages;
  }

  /// Marks this block and everything before it as cacheable.
  static void cache(ObjectNode block) {
    block.putObject("cache_control").put("type", "ephemeral");
  }

  /// Returns false if the last turn has tool calls but no thinking block. The API then does not
  /// allow thinking.
  static boolean mayThink(JsonNode messages) {
    var first = messages.size();
    while (first >= 2
        && messages
            .get(first - 1)
            .path("content")
            .path(0)
            .path("type")
            .asString("")
            .equals("tool_result")) {
      first -= 2;
    }
    return first == messages.size() || thought(messages.get(first).path("content").path(0));
  }

  static boolean thought(JsonNode block) {
    var type = block.path("type").asString("");
    return type.equals(THINKING) || type.equals(REDACTED);
  }

  private void assistant(ModelTurn.AssistantTurn turn) {
    if (messages.isEmpty()) {
      text(content("user"), "(Earlier messages are left out.)");
    }
    var content = content("assistant");
    for (var block : blocks(turn)) {
      content.add(block);
    }
    if (content.isEmpty()) {
      text(content, "(nothing)");
    }
    for (var toolResultText : turn.results()) {
      var block = content("user").addObject().put("type", "tool_result");
      block.put("tool_use_id", names.call(toolResultText.call()));
      block.put("content", toolResultText.text());
      if (!toolResultText.success()) {
        block.put("is_error", true);
      }
    }
  }

  private List<JsonNode> blocks(ModelTurn.AssistantTurn turn) {
    var remembered = thoughts ? remembered(turn) : null;
    if (remembered != null) {
      return remembered;
    }
    var blocks = new ArrayList<JsonNode>();
    if (!turn.text().isBlank()) {
      blocks.add(textBlock(turn.text()));
    }
    for (var i = 0; i < turn.calls().size(); i++) {
      blocks.add(call(turn, i));
    }
    return blocks;
  }

  /// Returns the blocks in the order of the memo, or null if there is no matching memo of this
  /// model.
  private @Nullable List<JsonNode> remembered(ModelTurn.AssistantTurn turn) {
    var memo = turn.memo();
    if (memo == null || !memo.path("model").asString("").equals(model)) {
      return null;
    }
    var blocks = new ArrayList<JsonNode>();
    var said = 0;
    var calls = 0;
    for (var block : memo.path("blocks")) {
      switch (block.path("type").asString("")) {
        case THINKING, REDACTED -> blocks.add(block.deepCopy());
        case "text" -> {
          var end = said + block.path("length").asInt(0);
          if (end > turn.text().length()) {
            return null;
          }
          var text = turn.text().substring(said, end);
          if (!text.isBlank()) {
            blocks.add(textBlock(text));
          }
          said = end;
        }
        case "tool_use" -> {
          if (calls >= turn.calls().size()) {
            return null;
          }
          blocks.add(call(turn, calls++));
        }
        default -> {
          // A memo has no other items.
        }
      }
    }
    return said == turn.text().length() && calls == turn.calls().size() ? blocks : null;
  }

  private ObjectNode call(ModelTurn.AssistantTurn turn, int index) {
    var call = turn.calls().get(index);
    var block = Json.object().put("type", "tool_use");
    block.put("id", names.call(call.id()));
    block.put("name", names.tool(call.name()));
    block.set("input", call.arguments());
    return block;
  }

  /// Returns the content of the last message if it has this role, or of a new message.
  private ArrayNode content(String role) {
    if (!messages.isEmpty() && role(messages.size() - 1).equals(role)) {
      return (ArrayNode) messages.get(messages.size() - 1).path("content");
    }
    return messages.addObject().put("role", role).putArray("content");
  }

  private String role(int index) {
    return messages.get(index).path("role").asString("");
  }

  private static void text(ArrayNode content, String text) {
    content.add(textBlock(text));
  }

  private static ObjectNode textBlock(String text) {
    return Json.object().put("type", "text").put("text", text);
  }
}
