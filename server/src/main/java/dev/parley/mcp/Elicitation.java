package dev.parley.mcp;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolQuestion;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question of a server to a person during a call: a form to fill in.
record Elicitation(JsonNode requestId, String message, ObjectNode schema) {

  private static final int MESSAGE_MAX = 4_000;
  private static final int SCHEMA_BYTES_MAX = 64 * 1024;

  /// True if the form is too large to be shown.
  boolean tooLarge() {
    return Json.bytes(schema).length > SCHEMA_BYTES_MAX;
  }

  ToolQuestion question(String server) {
    var type = hasNoFields() ? InputType.CONFIRMATION : InputType.DATA;
    var prompt = "The MCP server " + server + " asks: " + BoundedText.cut(message, MESSAGE_MAX);
    var metadata = Json.object().put("provider", "mcp").put("server", server);
    return new ToolQuestion(
        type, prompt, hasNoFields() ? null : schema, List.of(), true, null, metadata);
  }

  /// The reply to the server: the completed form, or that it was declined or canceled.
  ObjectNode reply(ToolAnswer toolAnswer) {
    return switch (toolAnswer) {
      case ToolAnswer.Given(var value) -> reply(value);
      case ToolAnswer.Lapsed(_, var declined) -> action(declined ? "decline" : "cancel");
    };
  }

  static ObjectNode canceled() {
    return action("cancel");
  }

  private ObjectNode reply(JsonNode value) {
    if (hasNoFields()) {
      var agrees = value.isObject() ? value.path("approved") : value;
      return agrees.asBoolean(false)
          ? action("accept").set("content", Json.object())
          : action("decline");
    }
    return value instanceof ObjectNode form
        ? action("accept").set("content", form)
        : action("cancel");
  }

  /// True if the form has no fields.
  private boolean hasNoFields() {
    return schema.path("properties").isEmpty();
  }

  private static ObjectNode action(String action) {
    return Json.object().put("action", action);
  }
}
