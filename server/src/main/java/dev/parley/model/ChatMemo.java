package dev.parley.model;

import dev.parley.protocol.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// What servers that speak chat completions want back with a turn's calls, beyond what OpenAI knows of:
/// what the model reasoned (DeepSeek, Kimi), and a signature with each call (Gemini).
record ChatMemo(JsonNode memo) {

  private static final String FIELD = "field";
  private static final String REASONING = "reasoning";
  private static final String EXTRAS = "extras";

  /// What servers sign a call with.
  static final String EXTRA = "extra_content";

  /// The memo of this model, or an empty one.
  static ChatMemo read(@Nullable JsonNode memo, String model) {
    return memo == null || !memo.path("model").asString("").equals(model)
        ? new ChatMemo(MissingNode.getInstance())
        : new ChatMemo(memo);
  }

  /// A new one; null if there is nothing to keep. `extras` has a place for each call.
  static @Nullable JsonNode of(String model, String field, String reasoning, JsonNode extras) {
    if (reasoning.isEmpty() && extras.valueStream().allMatch(JsonNode::isNull)) {
      return null;
    }
    var memo = Json.object().put("model", model);
    if (!reasoning.isEmpty()) {
      memo.put(FIELD, field).put(REASONING, Whole.text(reasoning));
    }
    memo.set(EXTRAS, extras);
    return memo;
  }

  void addReasoning(ObjectNode message) {
    var field = memo.path(FIELD).asString("");
    if (!field.isEmpty()) {
      message.put(field, memo.path(REASONING).asString(""));
    }
  }

  void addExtra(int call, ObjectNode wired) {
    var extra = memo.path(EXTRAS).path(call);
    if (extra.isObject()) {
      wired.set(EXTRA, extra);
    }
  }
}
