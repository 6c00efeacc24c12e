package dev.parley.tool;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.WireName;
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

  /// How soon a person should answer a question: `urgency` in the metadata of `input-required`.
  public enum Urgency implements WireName {
    LOW,
    MEDIUM,
    HIGH;

    /// The default urgency of the questions of a task with this priority.
    public static Urgency of(@Nullable Priority priority) {
      return switch (priority) {
        case null -> MEDIUM;
        case LOW -> LOW;
        case NORMAL -> MEDIUM;
        case HIGH, CRITICAL -> HIGH;
      };
    }
  }
}
