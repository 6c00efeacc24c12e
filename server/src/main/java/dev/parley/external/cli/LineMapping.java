package dev.parley.external.cli;

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
public record LineMapping(
    String type, Map<LineType, List<String>> types, Map<LineField, String> paths) {

  /// The meaning of a line.
  public enum LineType {
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
  public enum LineField {
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
  public static final LineMapping DEFAULT = new LineMapping("$.type", Map.of(), Map.of());

  private static final Map<LineType, List<String>> TYPES =
      Map.of(
          LineType.TEXT, List.of("text", "delta", "content", "assistant", "message"),
          LineType.THOUGHT, List.of("thought", "thinking", "reasoning"),
          LineType.TOOL_START, List.of("tool_start", "tool_use", "tool_call"),
          LineType.TOOL_END, List.of("tool_end", "tool_result"),
          LineType.RESULT, List.of("result", "done", "complete"),
          LineType.ERROR, List.of("error"),
          LineType.SESSION, List.of("session", "init"),
          // Lines without content that need not be kept.
          LineType.SKIP,
              List.of(
                  "stream_start",
                  "stream_metadata",
                  "stream_stop",
                  "content_block_start",
                  "content_block_stop"));

  private static final Map<LineField, String> PATHS =
      Map.ofEntries(
          Map.entry(LineField.TEXT, "$.text"),
          Map.entry(LineField.THOUGHT, "$.text"),
          Map.entry(LineField.TOOL_ID, "$.id"),
          Map.entry(LineField.TOOL_NAME, "$.name"),
          Map.entry(LineField.TOOL_ARGUMENTS, "$.arguments"),
          Map.entry(LineField.TOOL_RESULT, "$.result"),
          Map.entry(LineField.TOOL_ERROR, "$.error"),
          Map.entry(LineField.RESULT, "$.result"),
          Map.entry(LineField.ERROR, "$.error"),
          Map.entry(LineField.SESSION, "$.session_id"),
          Map.entry(LineField.MODEL, "$.model"),
          Map.entry(LineField.INPUT_TOKENS, "$.usage.input_tokens"),
          Map.entry(LineField.OUTPUT_TOKENS, "$.usage.output_tokens"),
          Map.entry(LineField.COST_USD, "$.cost_usd"));

  public LineMapping {
    types = Map.copyOf(types);
    paths = Map.copyOf(paths);
    check(type);
    paths.values().forEach(LineMapping::check);
  }

  private static void check(String path) {
    if (!path.matches("\\$(\\.[^.\\s]+){0,20}")) {
      throw new Rejection.Invalid(
          "a path is $ and up to 20 names after dots, like $.delta.text, not " + path);
    }
  }

  /// The meaning of a line; null if its type is unknown.
  @Nullable LineType typeOf(JsonNode line) {
    var value = at(line, type);
    var name = value.isString() ? value.asString() : "";
    for (var lineType : LineType.values()) {
      if (types.getOrDefault(lineType, List.of()).contains(name)) {
        return lineType;
      }
    }
    for (var lineType : LineType.values()) {
      if (!types.containsKey(lineType) && TYPES.getOrDefault(lineType, List.of()).contains(name)) {
        return lineType;
      }
    }
    return null;
  }

  /// The value of this field in a line.
  JsonNode find(LineField lineField, JsonNode line) {
    return at(line, paths.getOrDefault(lineField, PATHS.getOrDefault(lineField, "$")));
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
