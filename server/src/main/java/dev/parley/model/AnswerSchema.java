package dev.parley.model;

import com.google.re2j.Pattern;
import dev.parley.protocol.Json;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The JSON schema that an answer must match. Providers accept only objects, so any other value is
/// requested as `{"value": …}` and unwrapped afterwards.
record AnswerSchema(ObjectNode schema, boolean wrapped) {

  /// The name of the answer, for APIs that require one.
  static final String NAME = "answer";

  private static final String VALUE = "value";
  private static final Pattern FENCED = Pattern.compile("(?s)```(?:json)?\\s*\\n(.*?)```");

  static @Nullable AnswerSchema of(Prompt prompt) {
    return prompt.answerSchema() == null ? null : of(prompt.answerSchema());
  }

  private static AnswerSchema of(ObjectNode wanted) {
    if (wanted.path("type").asString("").equals("object")) {
      return new AnswerSchema(wanted, false);
    }
    var inner = wanted.deepCopy();
    var schema = Json.object().put("type", "object");
    schema.putObject("properties").set(VALUE, inner);
    schema.putArray("required").add(VALUE);
    schema.put("additionalProperties", false);
    // References in a schema start at its root.
    for (var definitions : new String[] {"$defs", "definitions"}) {
      if (inner.has(definitions)) {
        schema.set(definitions, inner.remove(definitions));
      }
    }
    return new AnswerSchema(schema, true);
  }

  /// Extracts the answer from a model's text, without code fences and surrounding text.
  Optional<String> read(String said) {
    var found = json(said);
    if (found.isEmpty()) {
      var fenced = FENCED.matcher(said);
      found = fenced.find() ? json(fenced.group(1)) : Optional.empty();
    }
    if (found.isEmpty()) {
      var from = said.indexOf('{');
      var to = said.lastIndexOf('}');
      found = from >= 0 && from < to ? json(said.substring(from, to + 1)) : Optional.empty();
    }
    return found.map(this::unwrapped).map(JsonNode::toString).map(SurrogateRepair::text);
  }

  /// Returns true if OpenAI's strict mode supports the schema: every object lists all its
  /// properties, requires all of them and allows no others.
  boolean strict() {
    return strict(schema);
  }

  private JsonNode unwrapped(JsonNode answer) {
    return wrapped && answer.size() == 1 && answer.has(VALUE) ? answer.get(VALUE) : answer;
  }

  private static Optional<JsonNode> json(String text) {
    if (text.isBlank()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Json.mapper().readTree(text));
    } catch (JacksonException broken) {
      return Optional.empty();
    }
  }

  private static boolean strict(JsonNode node) {
    if (node.isObject() && node.has("properties")) {
      var properties = node.get("properties");
      var closed = node.path("additionalProperties");
      if (!closed.isBoolean()
          || closed.asBoolean()
          || node.path("required").size() != properties.size()) {
        return false;
      }
    } else if (node.path("type").asString("").equals("object")) {
      return false;
    }
    return node.values().stream().allMatch(AnswerSchema::strict);
  }
}
