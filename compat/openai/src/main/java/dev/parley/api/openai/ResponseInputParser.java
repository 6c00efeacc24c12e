package dev.parley.api.openai;

import dev.parley.api.openai.OpenAiInput.ApprovalResponse;
import dev.parley.api.openai.OpenAiInput.ClientTools;
import dev.parley.api.openai.OpenAiInput.EarlierMessage;
import dev.parley.api.openai.OpenAiInput.FunctionOutput;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads the input of a response. For one thread.
final class ResponseInputParser {

  private static final int ITEMS_MAX = 10_000;

  private final List<String> instructions = new ArrayList<>();
  private final List<EarlierMessage> history = new ArrayList<>();
  private final List<String> texts = new ArrayList<>();
  private final List<FunctionOutput> outputs = new ArrayList<>();
  private final List<ApprovalResponse> approvals = new ArrayList<>();
  private String lastAnswer = "";

  private ResponseInputParser() {}

  /// Reads a request's body.
  ///
  /// @throws Rejection.Invalid if a field is malformed or not supported
  static OpenAiInput parse(ObjectNode body, AgentTypeId agent) {
    var parser = new ResponseInputParser();
    var instructions = ContentText.read(body.path("instructions"), "instructions");
    if (!instructions.isBlank()) {
      parser.instructions.add(instructions);
    }
    if (body.path("prompt").isObject()) {
      throw new Rejection.Invalid("unsupported-parameter", "prompt: the server stores no prompts");
    }
    parser.items(body.path("input"));
    AnswerFormat.instruction(body.path("text").path("format"), "")
        .ifPresent(parser.instructions::add);
    if (parser.texts.isEmpty() && parser.outputs.isEmpty() && parser.approvals.isEmpty()) {
      throw new Rejection.Invalid(
          "input must be a text, or items that end with a message of the user, an output of a"
              + " function call, or an approval response");
    }
    return new OpenAiInput(
        agent,
        parser.instructions,
        parser.history,
        parser.texts.isEmpty() ? null : String.join("\n\n", parser.texts),
        parser.outputs,
        parser.approvals,
        ClientTools.read(body, false),
        parser.lastAnswer);
  }

  private void items(JsonNode input) {
    if (input.isString()) {
      texts.add(input.asString());
      return;
    }
    if (!input.isArray()) {
      throw new Rejection.Invalid("input must be a string or a list of items");
    }
    if (input.size() > ITEMS_MAX) {
      throw new Rejection.Invalid("input has at most " + ITEMS_MAX + " items");
    }
    for (var i = 0; i < input.size(); i++) {
      item(input.path(i), "input[" + i + "]");
    }
  }

  private void item(JsonNode item, String path) {
    switch (item.path("type").asString("message")) {
      case "message" -> message(item, path);
      case "function_call_output" ->
          outputs.add(
              new FunctionOutput(
                  item.path("call_id").asString(""),
                  ContentText.read(item.path("output"), path + ".output")));
      case "mcp_approval_response" -> {
        if (!item.path("approve").isBoolean()) {
          throw new Rejection.Invalid(path + ".approve must be true or false");
        }
        approvals.add(
            new ApprovalResponse(
                item.path("approval_request_id").asString(""),
                item.path("approve").asBoolean(),
                item.path("reason").asString(null)));
      }
      // Output of earlier responses. The log has it already. Results of earlier calls of the same
      // task may precede it; they are recognized as given.
      case "function_call", "mcp_approval_request", "mcp_call", "reasoning" -> moveToHistory();
      case "mcp_list_tools", "item_reference", "compaction" -> {}
      default ->
          throw new Rejection.Invalid(
              "unsupported-content",
              path + " has a type that agents cannot use: " + item.path("type").asString(""));
    }
  }

  private void message(JsonNode item, String path) {
    var text = ContentText.read(item.path("content"), path + ".content");
    switch (item.path("role").asString("")) {
      case "system", "developer" -> {
        if (!text.isBlank()) {
          instructions.add(text);
        }
      }
      case "user" -> texts.add(text);
      case "assistant" -> {
        moveToHistory();
        outputs.clear();
        approvals.clear();
        lastAnswer = text;
        if (!text.isBlank()) {
          history.add(new EarlierMessage(Role.ASSISTANT, text));
        }
      }
      default ->
          throw new Rejection.Invalid(path + ".role must be user, assistant, system or developer");
    }
  }

  /// Messages before output of the agent are history.
  private void moveToHistory() {
    texts.forEach(text -> history.add(new EarlierMessage(Role.USER, text)));
    texts.clear();
  }
}
