package dev.parley.api.openai;

import dev.parley.protocol.Json;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes responses as chat completions.
final class ChatCompletions {

  /// The text between two messages of one answer.
  static final String SEPARATOR = "\n\n";

  private ChatCompletions() {}

  /// The fields that a completion and its chunks share.
  static ObjectNode head(ResponseRecord response, String type) {
    var json = Json.object().put("id", response.id().text(ResponseId.COMPLETION));
    json.put("object", type).put("created", response.createdSeconds());
    return json.put("model", response.agent().value()).putNull("system_fingerprint");
  }

  /// A complete answer.
  static ObjectNode completion(ResponseRecord response) {
    var json = head(response, "chat.completion");
    var choice = json.putArray("choices").addObject().put("index", 0);
    var message = choice.putObject("message").put("role", "assistant");
    var text = text(response, "message", "/content");
    var calls =
        response.items().stream()
            .filter(item -> item.path("type").asString().equals("function_call"))
            .map(ChatCompletions::toolCall)
            .toList();
    message.put("content", text.isEmpty() && !calls.isEmpty() ? null : text).putNull("refusal");
    var reasoning = text(response, "reasoning", "/summary");
    if (!reasoning.isEmpty()) {
      message.put("reasoning_content", reasoning);
    }
    if (!calls.isEmpty()) {
      calls.forEach(message.putArray("tool_calls")::add);
    }
    choice.putNull("logprobs").put("finish_reason", finishReason(response));
    json.set("usage", response.completionUsage());
    return json;
  }

  private static String text(ResponseRecord response, String type, String parts) {
    return response.items().stream()
        .filter(item -> item.path("type").asString().equals(type))
        .map(
            item ->
                item.at(parts)
                    .valueStream()
                    .map(part -> part.path("text").asString(""))
                    .collect(Collectors.joining()))
        .collect(Collectors.joining(SEPARATOR));
  }

  /// A function call in the form of chat completions.
  static ObjectNode toolCall(JsonNode item) {
    var call = Json.object().put("id", item.path("call_id").asString()).put("type", "function");
    call.putObject("function")
        .put("name", item.path("name").asString())
        .put("arguments", item.path("arguments").asString());
    return call;
  }

  static String finishReason(ResponseRecord response) {
    if (response.incompleteReason() != null) {
      return response.incompleteReason().equals("content_filter") ? "content_filter" : "length";
    }
    var asks =
        response.items().stream()
            .anyMatch(item -> item.path("type").asString().equals("function_call"));
    return asks ? "tool_calls" : "stop";
  }
}
