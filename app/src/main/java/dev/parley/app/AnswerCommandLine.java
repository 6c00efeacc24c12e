package dev.parley.app;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// Command lines that answer a question, ready to be copied into a shell.
final class AnswerCommandLine {

  private static final int TEXT_MAX = 200;

  private AnswerCommandLine() {}

  /// A valid answer and, for a confirmation or a form, a refusal. `server` has the options that select the
  /// server; it is empty for the default one.
  static List<String> of(AskedQuestion asked, String server) {
    return values(asked).stream()
        .map(value -> "./parley answer " + asked.context() + " " + asked.id() + value + server)
        .toList();
  }

  private static List<String> values(AskedQuestion asked) {
    if (asked.inputType() == null) {
      // A sign-in: the secret is typed or piped.
      return List.of("");
    }
    if (asked.inputType() == InputType.CONFIRMATION) {
      return List.of(" yes", " no --reason 'not now'");
    }
    if (!asked.options().isEmpty()) {
      return List.of(" " + quoted(typed(asked.options().getFirst())));
    }
    var schema = asked.schema();
    return schema == null
        ? List.of(" " + quoted("your answer"))
        : List.of(" " + quoted(typed(example(schema))), " --decline", " --skip");
  }

  /// An answer that fits the schema of a question, as it is typed.
  static String example(AskedQuestion asked) {
    return asked.schema() == null ? "" : typed(example(asked.schema()));
  }

  /// The value as it is typed. Text that a terminal cannot show is written as JSON.
  private static String typed(JsonNode value) {
    var text = value.isString() ? value.asString() : value.toString();
    return TextSanitizer.line(text, TEXT_MAX).equals(text) ? text : value.toString();
  }

  private static JsonNode example(JsonNode schema) {
    for (var given :
        List.of(
            schema.path("default"),
            schema.path("enum").path(0),
            schema.path("oneOf").path(0).path("const"),
            schema.path("anyOf").path(0).path("const"))) {
      if (!given.isMissingNode()) {
        return given;
      }
    }
    var nodes = Json.mapper().getNodeFactory();
    return switch (schema.path("type").asString("")) {
      case "boolean" -> nodes.booleanNode(true);
      case "integer", "number" ->
          schema.has("minimum") ? schema.get("minimum") : nodes.numberNode(1);
      case "array" -> Json.mapper().createArrayNode().add(example(schema.path("items")));
      case "object" -> {
        var object = Json.object();
        var wanted = schema.path("required").valueStream().map(JsonNode::asString).toList();
        for (var name : wanted) {
          object.set(name, example(schema.path("properties").path(name)));
        }
        yield object;
      }
      default ->
          nodes.stringNode(
              switch (schema.path("format").asString("")) {
                case "email" -> "name@example.org";
                case "uri" -> "https://example.org";
                case "date" -> "2026-12-31";
                case "date-time" -> "2026-12-31T12:00:00Z";
                default -> "...";
              });
    };
  }

  /// Quotes the text, if necessary, so that a shell reads it as one word.
  static String quoted(String text) {
    return text.matches("[\\w./:-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
