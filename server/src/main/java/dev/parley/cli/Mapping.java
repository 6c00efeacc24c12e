package dev.parley.cli;

import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// Describes the lines of a program: `types` maps the values of the field `type` to meanings,
/// `paths` contains the path of each field.
///
/// A path is `$` followed by names or numbers after dots: `$.message.content.0.text`.
public record Mapping(String type, Map<Meaning, List<String>> types, Map<Part, String> paths) {

  /// The meaning of a line.
  public enum Meaning {
    TEXT,
    THOUGHT,
    TOOL_START,
    TOOL_END,
    RESULT,
    ERROR,
    SESSION,
    SKIP
  }

  /// A field of a line.
  public enum Part {
    TEXT,
    THOUGHT,
    TOOL_ID,
    TOOL_NAME,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
    TOOL_ERROR,
    RESULT,
    ERROR,
    SESSION,
    MODEL,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    COST_USD
  }

  /// The default mapping: `{"type":"text","text":"…"}` and so on.
  public static final Mapping USUAL = new Mapping("$.type", Map.of(), Map.of());

  private static final Map<Meaning, List<String>> TYPES =
      Map.of(
          Meaning.TEXT, List.of("text", "delta", "content", "assistant", "message"),
          Meaning.THOUGHT, List.of("thought", "thinking", "reasoning"),
          Meaning.TOOL_START, List.of("tool_start", "tool_use", "tool_call"),
          Meaning.TOOL_END, List.of("tool_end", "tool_result"),
          Meaning.RESULT, List.of("result", "done", "complete"),
          Meaning.ERROR, List.of("error"),
          Meaning.SESSION, List.of("session", "init"),
          // Lines without content that need not be kept.
          Meaning.SKIP,
              List.of(
                  "stream_start",
                  "stream_metadata",
                  "stream_stop",
                  "content_block_start",
                  "content_block_stop"));

  private static final Map<Part, String> PATHS =
      Map.ofEntries(
          Map.entry(Part.TEXT, "$.text"),
          Map.entry(Part.THOUGHT, "$.text"),
          Map.entry(Part.TOOL_ID, "$.id"),
          Map.entry(Part.TOOL_NAME, "$.name"),
          Map.entry(Part.TOOL_ARGUMENTS, "$.arguments"),
          Map.entry(Part.TOOL_RESULT, "$.result"),
          Map.entry(Part.TOOL_ERROR, "$.error"),
          Map.entry(Part.RESULT, "$.result"),
          Map.entry(Part.ERROR, "$.error"),
          Map.entry(Part.SESSION, "$.session_id"),
          Map.entry(Part.MODEL, "$.model"),
          Map.entry(Part.INPUT_TOKENS, "$.usage.input_tokens"),
          Map.entry(Part.OUTPUT_TOKENS, "$.usage.output_tokens"),
          Map.entry(Part.COST_USD, "$.cost_usd"));

  public Mapping {
    types = Map.copyOf(types);
    paths = Map.copyOf(paths);
    check(type);
    paths.values().forEach(Mapping::check);
  }

  private static void check(String path) {
    if (!path.matches("\\$(\\.[^.\\s]+){0,20}")) {
      throw new Rejection.Invalid(
          "mapping: a path is $ and up to 20 names after dots, like $.delta.text, not " + path);
    }
  }

  /// The meaning of a line; null if its type is unknown.
  @Nullable Meaning meaning(JsonNode line) {
    var value = at(line, type);
    var name = value.isString() ? value.asString() : "";
    for (var meaning : Meaning.values()) {
      if (types.getOrDefault(meaning, List.of()).contains(name)) {
        return meaning;
      }
    }
    for (var meaning : Meaning.values()) {
      if (!types.containsKey(meaning) && TYPES.getOrDefault(meaning, List.of()).contains(name)) {
        return meaning;
      }
    }
    return null;
  }

  /// The value of this field in a line.
  JsonNode find(Part part, JsonNode line) {
    return at(line, paths.getOrDefault(part, PATHS.getOrDefault(part, "$")));
  }

  private static JsonNode at(JsonNode line, String path) {
    var node = line;
    var names = path.split("\\.", -1);
    for (var i = 1; i < names.length; i++) {
      node =
          node.isArray()
              ? names[i].matches("\\d{1,6}")
                  ? node.path(Integer.parseInt(names[i]))
                  : MissingNode.getInstance()
              : node.path(names[i]);
    }
    return node;
  }
}
