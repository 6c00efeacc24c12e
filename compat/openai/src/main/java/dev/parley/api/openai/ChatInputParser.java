package dev.parley.api.openai;

import dev.parley.api.openai.OpenAiInput.ClientTools;
import dev.parley.api.openai.OpenAiInput.EarlierMessage;
import dev.parley.api.openai.OpenAiInput.FunctionOutput;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads the body of a chat completion. For one thread.
final class ChatInputParser {

  private static final int MESSAGES_MAX = 10_000;

  private final List<String> instructions = new ArrayList<>();
  private final List<EarlierMessage> history = new ArrayList<>();
  private final List<String> texts = new ArrayList<>();
  private final List<FunctionOutput> outputs = new ArrayList<>();
  private String lastAnswer = "";

  private ChatInputParser() {}

  /// Reads a request's body.
  ///
  /// @throws Rejection.Invalid if a field is malformed or not supported
  static OpenAiInput parse(ObjectNode body, AgentTypeId agent) {
    if (body.path("n").asInt(1) != 1) {
      throw new Rejection.Invalid("unsupported-parameter", "n must be 1: an agent answers once");
    }
    if (body.path("modalities").valueStream().anyMatch(kind -> !kind.asString("").equals("text"))) {
      throw new Rejection.Invalid(
          "unsupported-parameter", "modalities must be text: agents answer with text");
    }
    var messages = body.path("messages");
    if (!messages.isArray() || messages.isEmpty()) {
      throw new Rejection.Invalid("messages must be a list with at least one message");
    }
    if (messages.size() > MESSAGES_MAX) {
      throw new Rejection.Invalid("messages has at most " + MESSAGES_MAX + " entries");
    }
    var parser = new ChatInputParser();
    for (var i = 0; i < messages.size(); i++) {
      parser.message(messages.path(i), "messages[" + i + "]");
    }
    AnswerFormat.instruction(body.path("response_format"), "json_schema")
        .ifPresent(parser.instructions::add);
    if (parser.texts.isEmpty() && parser.outputs.isEmpty()) {
      throw new Rejection.Invalid(
          "messages must end with a message of the user, or with results of tool calls");
    }
    return new OpenAiInput(
        agent,
        parser.instructions,
        parser.history,
        parser.texts.isEmpty() ? null : String.join("\n\n", parser.texts),
        parser.outputs,
        List.of(),
        functions(body),
        parser.lastAnswer);
  }

  /// Reads `tools`, or the older `functions`.
  private static ClientTools functions(ObjectNode body) {
    if (!body.path("functions").isArray() || body.has("tools")) {
      return ClientTools.read(body, true);
    }
    var wrapped = Json.object();
    var tools = wrapped.putArray("tools");
    body.path("functions")
        .forEach(function -> tools.addObject().put("type", "function").set("function", function));
    return ClientTools.read(wrapped, true);
  }

  private void message(JsonNode message, String path) {
    var role = message.path("role").asString("");
    var content = message.path("content");
    switch (role) {
      case "system", "developer" -> {
        var text = ContentText.read(content, path + ".content");
        if (!text.isBlank()) {
          instructions.add(text);
        }
      }
      case "user" -> texts.add(ContentText.read(content, path + ".content"));
      case "assistant" -> {
        // What precedes an answer is history.
        texts.forEach(text -> history.add(new EarlierMessage(Role.USER, text)));
        texts.clear();
        outputs.clear();
        lastAnswer = ContentText.read(content, path + ".content");
        if (!lastAnswer.isBlank()) {
          history.add(new EarlierMessage(Role.ASSISTANT, lastAnswer));
        }
      }
      case "tool" ->
          outputs.add(
              new FunctionOutput(
                  message.path("tool_call_id").asString(""),
                  ContentText.read(content, path + ".content")));
      default ->
          throw new Rejection.Invalid(
              path + ".role must be system, developer, user, assistant or tool");
    }
  }
}
