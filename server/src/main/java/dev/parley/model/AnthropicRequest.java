package dev.parley.model;

import dev.parley.protocol.Json;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of Anthropic's Messages API.
///
/// An answer with a schema is requested as a tool call, which all compatible servers support. The
/// call is forced. A forced call does not allow thinking, so models that always think are only
/// instructed to make it.
final class AnthropicRequest extends ProviderRequest {

  private static final String VERSION = "2023-06-01";
  private static final int ANSWER_TOKENS = 16_384;

  /// Models that need a thinking budget. Newer models of Anthropic decide by themselves.
  private static final Pattern BUDGETED =
      Pattern.compile(
          "claude-(?:[23]|instant).*"
              + "|claude-(?:opus|sonnet|haiku)-4(?:[-.][0-5])?(?:[-@](?:\\d{8}|latest).*)?");

  private final String answerTool;
  private final boolean budgeted;
  private final boolean thinking;
  private final ArrayNode messages;

  AnthropicRequest(ModelSettings settings, Prompt prompt) {
    super(settings, prompt);
    this.answerTool = names.free(AnswerSchema.NAME);
    this.budgeted = budgeted(settings.model());
    var turns = ModelTurn.of(prompt);
    var with = new AnthropicMessages(settings.model(), names, true).of(turns);
    this.thinking =
        settings.thinkingTokens() > 0
            && !(budgeted && (form != null || !AnthropicMessages.mayThink(with)));
    this.messages =
        thinking || !budgeted
            ? with
            : new AnthropicMessages(settings.model(), names, false).of(turns);
  }

  static boolean budgeted(String model) {
    var own = model.substring(Math.max(0, model.indexOf("claude-")));
    return !own.startsWith("claude-") || BUDGETED.matcher(own).matches();
  }

  /// Returns true for the tool that receives an answer with a schema.
  boolean takesAnswer(String tool) {
    return form != null && tool.equals(answerTool);
  }

  @Override
  URI address() {
    return settings.address(
        settings.baseUrl().getPath().matches(".*/v1/?") ? "" : "/v1", "/messages");
  }

  @Override
  Map<String, String> headers() {
    var headers = new LinkedHashMap<String, String>();
    headers.put("anthropic-version", VERSION);
    if (settings.apiKey() != null) {
      headers.put("x-api-key", settings.apiKey().value());
    }
    return headers;
  }

  @Override
  ModelStreamParser parser(Supplier<String> ids, SinkWriter sinkWriter) {
    return new AnthropicStreamParser(this, ids, sinkWriter);
  }

  @Override
  ObjectNode body() {
    var body = Json.object().put("model", settings.model());
    body.put("max_tokens", maxTokens());
    body.put("stream", true);
    addSystem(body);
    addTools(body);
    addThinking(body);
    body.set("messages", messages);
    return body;
  }

  private int maxTokens() {
    if (settings.maxTokens() != null) {
      return settings.maxTokens();
    }
    return ANSWER_TOKENS + (thinking ? settings.thinkingTokens() : 0);
  }

  private void addSystem(ObjectNode body) {
    var text = ModelTurn.systemText(prompt);
    if (form != null && !budgeted) {
      text = (text + "\n\nGive your answer by calling the tool " + answerTool + ".").strip();
    }
    if (!text.isEmpty()) {
      var block = body.putArray("system").addObject().put("type", "text").put("text", text);
      AnthropicMessages.cache(block);
    }
  }

  private void addTools(ObjectNode body) {
    if (prompt.tools().isEmpty() && form == null) {
      return;
    }
    var tools = body.putArray("tools");
    for (var tool : prompt.tools()) {
      tool(tools, names.tool(tool.name()), tool.description(), tool.schema());
    }
    if (form != null) {
      tool(tools, answerTool, "Receives your answer. Call it when you have one.", form.schema());
      if (budgeted) {
        var choice = body.putObject("tool_choice");
        if (prompt.tools().isEmpty()) {
          choice.put("type", "tool").put("name", answerTool);
        } else {
          choice.put("type", "any");
        }
      }
    }
    AnthropicMessages.cache((ObjectNode) tools.get(tools.size() - 1));
  }

  private static void tool(ArrayNode tools, String name, String description, ObjectNode schema) {
    var tool = tools.addObject().put("name", name);
    if (!description.isBlank()) {
      tool.put("description", description);
    }
    tool.set("input_schema", typed(schema));
  }

  /// Adds the `type` that some schemas omit, because the API requires it.
  private static JsonNode typed(ObjectNode schema) {
    return schema.has("type") ? schema : schema.deepCopy().put("type", "object");
  }

  private void addThinking(ObjectNode body) {
    if (!thinking) {
      return;
    }
    if (budgeted) {
      body.putObject("thinking")
          .put("type", "enabled")
          .put("budget_tokens", settings.thinkingTokens());
    } else {
      body.putObject("thinking").put("type", "adaptive").put("display", "summarized");
      body.putObject("output_config").put("effort", settings.effort());
    }
  }
}
