package dev.parley.app;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Converts typed text to the JSON value of an answer.
final class AnswerValue {

  private static final Set<String> YES = Set.of("y", "yes");
  private static final Set<String> NO = Set.of("n", "no");

  private AnswerValue() {}

  /// The answer to a question of this type: a boolean for `yes` and `no` to a confirmation; else
  /// the option with this text; else the typed JSON; else the text itself.
  static JsonNode of(String typed, @Nullable InputType type, @Nullable List<JsonNode> options) {
    var word = typed.strip().toLowerCase(Locale.ROOT);
    if (type == InputType.CONFIRMATION && (YES.contains(word) || NO.contains(word))) {
      return Json.mapper().getNodeFactory().booleanNode(YES.contains(word));
    }
    var text = StringNode.valueOf(typed);
    return options != null && options.contains(text) ? text : json(typed, text);
  }

  /// The answer that declines a question: the person does not want to answer.
  static ObjectNode declined() {
    return Json.object().put("declined", true);
  }

  /// The answer that skips a question: the person leaves it unanswered.
  static ObjectNode skipped() {
    return Json.object().put("skipped", true);
  }

  /// The answer to a confirmation, with a reason or changed arguments.
  static ObjectNode confirmation(
      boolean approved, @Nullable String reason, @Nullable ObjectNode arguments) {
    var value = Json.object().put("approved", approved);
    Json.putPresent(value, "reason", reason);
    Json.putPresent(value, "arguments", arguments);
    return value;
  }

  /// The typed JSON object; null if the text is not a JSON object.
  static @Nullable ObjectNode object(String typed) {
    return json(typed, StringNode.valueOf(typed)) instanceof ObjectNode object ? object : null;
  }

  private static JsonNode json(String typed, JsonNode otherwise) {
    try {
      var value = Json.mapper().readTree(typed);
      return value == null || value.isMissingNode() ? otherwise : value;
    } catch (JacksonException | Rejection notJson) {
      return otherwise;
    }
  }
}
