package dev.parley.api.openai;

import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// The format that a client wants for the answer. It becomes an instruction for the agent: agents
/// work in several steps, so their output is not limited to a format.
final class AnswerFormat {

  private AnswerFormat() {}

  /// The instruction for a format, if it needs one.
  ///
  /// @param nested the field with the schema and its name, or an empty string if they are in the
  ///     format itself
  static Optional<String> instruction(JsonNode format, String nested) {
    var schema = nested.isEmpty() ? format.path("schema") : format.path(nested).path("schema");
    return switch (format.path("type").asString("")) {
      case "json_object" -> Optional.of("Answer with one JSON object, and nothing else.");
      case "json_schema" ->
          Optional.of(
              "Answer with one JSON value that matches this JSON Schema, and nothing else: "
                  + schema);
      default -> Optional.empty();
    };
  }
}
