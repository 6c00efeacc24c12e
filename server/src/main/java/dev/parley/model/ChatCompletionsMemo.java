package dev.parley.model;

import dev.parley.protocol.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// Data that some servers with a chat completions API require back with tool calls, beyond OpenAI's
/// API: the model's reasoning (DeepSeek, Kimi) and a signature per call (Gemini).
record ChatCompletionsMemo(JsonNode memo) {

  private static final String FIELD = "field";
  private static final String REASONING = "reasoning";
  private static final String EXTRAS = "extras";

  /// The field with a call's signature.
  static final String EXTRA = "extra_content";

  /// Returns the memo if this model wrote it, or an empty one.
  static ChatCompletionsMemo read(@Nullable JsonNode memo, String model) {
    return memo == null || !memo.path("model").asString("").equals(model)
        ? new ChatCompletionsMemo(MissingNode.getInstance())
        : new ChatCompletionsMemo(memo);
  }

  /// Returns a new memo, or null if there is nothing to store. `extras` has one element per call.
  static @Nullable JsonNode of(String model, String field, String reasoning, JsonNode extras) {
    if (reasoning.isEmpty() && extras.valueStream().allMatch(JsonNode::isNull)) {
      return null;
    }
    var memo = Json.object().put("model", model);
    if (!reasoning.isEmpty()) {
      memo.put(FIELD, field).put(REASONING, SurrogateRepair.text(reasoning));
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
