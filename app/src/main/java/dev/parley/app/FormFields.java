package dev.parley.app;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// Describes the JSON schema of a question in words: one line for each field of a form.
///
/// The schema may come from a model or from an MCP server. Each line is escaped.
final class FormFields {

  private FormFields() {}

  /// One line for each field. A schema that is not a form has one line.
  static List<String> describe(JsonNode schema) {
    if (!isForm(schema)) {
      return List.of(escaped(sentences(schema, kind(schema))));
    }
    var required =
        schema.path("required").valueStream().map(JsonNode::asString).collect(Collectors.toSet());
    var lines = new ArrayList<String>();
    for (var field : schema.path("properties").properties()) {
      var name = field.getKey();
      var need = required.contains(name) ? "required" : "optional";
      var about = about(field.getValue());
      var head = name + " (" + kind(field.getValue()) + ", " + need + ")";
      lines.add(escaped(sentences(field.getValue(), about.isEmpty() ? head : head + ": " + about)));
    }
    return lines;
  }

  /// True if the answer is an object with named fields.
  static boolean isForm(JsonNode schema) {
    return schema.path("properties").isObject() && !schema.path("properties").isEmpty();
  }

  private static String escaped(String text) {
    return TextSanitizer.line(TextSanitizer.visible(text), Integer.MAX_VALUE);
  }

  private static String about(JsonNode schema) {
    var description = schema.path("description").asString("");
    var text = description.isBlank() ? schema.path("title").asString("") : description;
    return text.strip().replaceFirst("\\.$", "");
  }

  private static String kind(JsonNode schema) {
    var type = schema.path("type").asString("");
    var format = schema.path("format").asString("");
    return switch (type) {
      case "string" -> format.isEmpty() ? "text" : "text, " + format;
      case "integer" -> "whole number";
      case "number" -> "number";
      case "boolean" -> "true or false";
      case "array" -> "list";
      case "object" -> "object";
      default -> choices(schema).isEmpty() ? "JSON" : "choice";
    };
  }

  /// The first sentence, followed by the limits, the choices and the default.
  private static String sentences(JsonNode schema, String first) {
    var parts = new ArrayList<String>();
    parts.add(first);
    var choices =
        choices(schema.path("type").asString("").equals("array") ? items(schema) : schema);
    if (!choices.isEmpty()) {
      parts.add(
          (items(schema).isMissingNode() ? "One of " : "Any of ") + String.join(", ", choices));
    } else if (isNested(schema)) {
      parts.add("JSON that fits " + schema);
    }
    range(schema, "minimum", "maximum", "", parts);
    range(schema, "minLength", "maxLength", " characters", parts);
    range(schema, "minItems", "maxItems", " items", parts);
    if (schema.has("pattern")) {
      parts.add("Pattern: " + schema.path("pattern").asString(""));
    }
    if (schema.has("default")) {
      parts.add("Default: " + schema.path("default"));
    }
    return String.join(". ", parts);
  }

  private static void range(
      JsonNode schema, String least, String most, String unit, List<String> parts) {
    if (schema.has(least)) {
      parts.add("At least " + schema.path(least) + unit);
    }
    if (schema.has(most)) {
      parts.add("At most " + schema.path(most) + unit);
    }
  }

  private static JsonNode items(JsonNode schema) {
    return schema.path("items");
  }

  /// The choices as they are typed in JSON, with their titles.
  private static List<String> choices(JsonNode schema) {
    var names = schema.path("enumNames");
    var choices = new ArrayList<String>();
    for (var value : schema.path("enum")) {
      var title = names.path(choices.size()).asString("");
      choices.add(title.isEmpty() ? value.toString() : value + " (" + title + ")");
    }
    for (var key : List.of("oneOf", "anyOf")) {
      for (var choice : schema.path(key)) {
        if (choice.has("const")) {
          var title = choice.path("title").asString("");
          var value = choice.path("const").toString();
          choices.add(title.isEmpty() ? value : value + " (" + title + ")");
        }
      }
    }
    return choices;
  }

  /// True if the words would not describe the schema.
  private static boolean isNested(JsonNode schema) {
    return switch (schema.path("type").asString("")) {
      case "string", "integer", "number", "boolean" -> false;
      case "array" -> isNested(items(schema));
      default -> true;
    };
  }
}
