package dev.parley.tool;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.task.SchemaPatterns;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question to a person, or to the parent agent if `requireUser` is false.
///
/// An answer must match `schema`, if there is one, and be one of `options`, if there are any.
/// Without `timeout` the default of the server applies. A schema with a `pattern` that cannot be
/// checked in linear time, such as one with look-around or back-references, is rejected with a
/// [dev.parley.protocol.Rejection.Invalid].
public record ToolQuestion(
    InputType type,
    String prompt,
    @Nullable ObjectNode schema,
    List<JsonNode> options,
    boolean requireUser,
    @Nullable Duration timeout,
    @Nullable ObjectNode metadata) {

  public ToolQuestion {
    options = List.copyOf(options);
    SchemaPatterns.check(schema);
  }

  /// A question that is answered with free text.
  public static ToolQuestion open(String prompt, boolean requireUser) {
    return new ToolQuestion(
        InputType.CLARIFICATION, prompt, null, List.of(), requireUser, null, null);
  }
}
