package dev.parley.model;

import dev.parley.protocol.Json;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A request of OpenAI's responses API. The provider stores nothing: reasoning items arrive
/// encrypted and are sent back unchanged, in their original order.
final class ResponsesRequest extends ProviderRequest {

  /// Models that always reason. Other models reject a request for their reasoning.
  private static final Pattern REASONS = Pattern.compile("(?:o\\d|gpt-[5-9](?!.*-chat)|codex).*");

  ResponsesRequest(ModelSettings settings, Prompt prompt) {
    super(settings, prompt);
  }

  @Override
  URI address() {
    return openAiAddress("/responses");
  }

  @Override
  Map<String, String> headers() {
    return openAiHeaders();
  }

  @Override
  ModelStreamParser parser(Supplier<String> ids, SinkWriter sinkWriter) {
    return new ResponsesStreamParser(this, ids, sinkWriter);
  }

  @Override
  ObjectNode body() {
    var body = Json.object().put("model", settings.model()).put("stream", true).put("store", false);
    Json.putPresent(body, "max_output_tokens", settings.maxTokens());
    if (settings.thinkingTokens() > 0) {
      body.putObject("reasoning").put("effort", settings.effort()).put("summary", "auto");
    }
    if (settings.thinkingTokens() > 0 || REASONS.matcher(settings.model()).matches()) {
      body.putArray("include").add("reasoning.encrypted_content");
    }
    var top = ModelTurn.systemText(prompt);
    if (!top.isEmpty()) {
      body.put("instructions", top);
    }
    addTools(body);
    if (form != null) {
      var format = body.putObject("text").putObject("format").put("type", "json_schema");
      format.put("name", AnswerSchema.NAME).put("strict", form.strict());
      format.set("schema", form.schema());
    }
    addInput(body.putArray("input"));
    return body;
  }

  private void addTools(ObjectNode body) {
    if (prompt.tools().isEmpty()) {
      return;
    }
    var tools = body.putArray("tools");
    for (var tool : prompt.tools()) {
      var function = tools.addObject().put("type", "function");
      function.put("name", names.tool(tool.name()));
      function.put("description", tool.description());
      function.set("parameters", tool.schema());
      // Otherwise the API would change the schema to fit its strict mode.
      function.put("strict", false);
    }
  }

  private void addInput(ArrayNode input) {
    for (var modelTurn : ModelTurn.of(prompt)) {
      switch (modelTurn) {
        case ModelTurn.SystemTurn(var text) -> input.add(message("developer", text));
        case ModelTurn.UserTurn(var text) -> input.add(message("user", text));
        case ModelTurn.AssistantTurn assistantTurn -> {
          items(assistantTurn).forEach(input::add);
          for (var toolResultText : assistantTurn.results()) {
            input
                .addObject()
                .put("type", "function_call_output")
                .put("call_id", names.call(toolResultText.call()))
                .put("output", toolResultText.textWithError());
          }
        }
      }
    }
    if (input.isEmpty()) {
      input.add(message("user", "Go on."));
    }
  }

  private List<JsonNode> items(ModelTurn.AssistantTurn turn) {
    var remembered = remembered(turn);
    if (remembered != null) {
      return remembered;
    }
    var items = new ArrayList<JsonNode>();
    if (!turn.text().isBlank()) {
      items.add(message("assistant", turn.text()));
    }
    for (var i = 0; i < turn.calls().size(); i++) {
      items.add(call(turn, i));
    }
    return items;
  }

  /// Returns the items in the order of the memo, or null if there is no matching memo of this
  /// model.
  private @Nullable List<JsonNode> remembered(ModelTurn.AssistantTurn turn) {
    var memo = turn.memo();
    if (memo == null || !memo.path("model").asString("").equals(settings.model())) {
      return null;
    }
    var items = new ArrayList<JsonNode>();
    var said = 0;
    var calls = 0;
    for (var item : memo.path("items")) {
      switch (item.path("type").asString("")) {
        case "reasoning" -> items.add(item);
        case "message" -> {
          var end = said + item.path("length").asInt(0);
          if (end > turn.text().length()) {
            return null;
          }
          if (end > said) {
            items.add(message("assistant", turn.text().substring(said, end)));
          }
          said = end;
        }
        case "function_call" -> {
          if (calls >= turn.calls().size()) {
            return null;
          }
          items.add(call(turn, calls++));
        }
        default -> {
          // A memo has no other items.
        }
      }
    }
    return said == turn.text().length() && calls == turn.calls().size() ? items : null;
  }

  private ObjectNode call(ModelTurn.AssistantTurn turn, int index) {
    var call = turn.calls().get(index);
    return Json.object()
        .put("type", "function_call")
        .put("call_id", names.call(call.id()))
        .put("name", names.tool(call.name()))
        .put("arguments", call.arguments().toString());
  }

  private static ObjectNode message(String role, String content) {
    return Json.object().put("role", role).put("content", content);
  }
}
