package dev.parley.model;

import dev.parley.protocol.Json;
import java.net.URI;
import java.util.Map;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of OpenAI's chat completions API.
final class ChatCompletionsRequest extends ProviderRequest {

  ChatCompletionsRequest(ModelSettings settings, Prompt prompt) {
    super(settings, prompt);
  }

  @Override
  URI address() {
    return openAiAddress("/chat/completions");
  }

  @Override
  Map<String, String> headers() {
    return openAiHeaders();
  }

  @Override
  ModelStreamParser parser(Supplier<String> ids, SinkWriter sinkWriter) {
    return new ChatCompletionsStreamParser(this, ids, sinkWriter);
  }

  @Override
  ObjectNode body() {
    var body = Json.object().put("model", settings.model()).put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    if (settings.maxTokens() != null) {
      body.put(tokenLimit(), settings.maxTokens());
    }
    if (settings.thinkingTokens() > 0) {
      body.put("reasoning_effort", settings.effort());
    }
    addTools(body);
    if (form != null) {
      var format = body.putObject("response_format").put("type", "json_schema");
      var schema = format.putObject("json_schema").put("name", AnswerSchema.NAME);
      schema.put("strict", form.strict());
      schema.set("schema", form.schema());
    }
    addMessages(body.putArray("messages"));
    return body;
  }

  /// Returns the name of the output limit. OpenAI has deprecated the one that other servers use.
  private String tokenLimit() {
    var host = String.valueOf(settings.baseUrl().getHost());
    return host.endsWith("openai.com") || host.endsWith("azure.com")
        ? "max_completion_tokens"
        : "max_tokens";
  }

  private void addTools(ObjectNode body) {
    if (prompt.tools().isEmpty()) {
      return;
    }
    var tools = body.putArray("tools");
    for (var tool : prompt.tools()) {
      var function = tools.addObject().put("type", "function").putObject("function");
      function.put("name", names.tool(tool.name()));
      function.put("description", tool.description());
      function.set("parameters", tool.schema());
    }
  }

  private void addMessages(ArrayNode messages) {
    var top = ModelTurn.systemText(prompt);
    if (!top.isEmpty()) {
      message(messages, "system", top);
    }
    for (var modelTurn : ModelTurn.of(prompt)) {
      switch (modelTurn) {
        case ModelTurn.SystemTurn(var text) -> message(messages, "system", text);
        case ModelTurn.UserTurn(var text) -> message(messages, "user", text);
        case ModelTurn.AssistantTurn assistantTurn -> addAssistant(messages, assistantTurn);
      }
    }
  }

  private void addAssistant(ArrayNode messages, ModelTurn.AssistantTurn turn) {
    var message = message(messages, "assistant", turn.text());
    if (turn.calls().isEmpty()) {
      return;
    }
    if (turn.text().isEmpty()) {
      message.putNull("content");
    }
    var memo = ChatCompletionsMemo.read(turn.memo(), settings.model());
    memo.addReasoning(message);
    var calls = message.putArray("tool_calls");
    for (var i = 0; i < turn.calls().size(); i++) {
      var call = turn.calls().get(i);
      var wired = calls.addObject().put("id", names.call(call.id())).put("type", "function");
      wired
          .putObject("function")
          .put("name", names.tool(call.name()))
          .put("arguments", call.arguments().toString());
      memo.addExtra(i, wired);
    }
    for (var toolResultText : turn.results()) {
      message(messages, "tool", toolResultText.textWithError())
          .put("tool_call_id", names.call(toolResultText.call()));
    }
  }

  private static ObjectNode message(ArrayNode messages, String role, String content) {
    return messages.addObject().put("role", role).put("content", content);
  }

  /// Returns true if this is a text that is not empty.
  static boolean hasText(JsonNode node) {
    return node.isString() && !node.asString().isEmpty();
  }
}
