package dev.parley.tool;

import dev.parley.task.DeclinedAnswer;
import tools.jackson.databind.JsonNode;

/// The result of a question or of a sign-in.
public sealed interface ToolAnswer {

  /// An answer was given; after a sign-in the value is `true`.
  record Given(JsonNode value) implements ToolAnswer {}

  /// There is no answer, for this reason; `declined` if a person declined to answer.
  record Lapsed(String reason, boolean declined) implements ToolAnswer {

    public Lapsed(String reason) {
      this(reason, false);
    }
  }

  /// Converts a value from a person or an agent: an answer, or that the question was skipped or
  /// declined.
  static ToolAnswer of(JsonNode value) {
    if (DeclinedAnswer.declines(value)) {
      return new Lapsed(DeclinedAnswer.DECLINED, true);
    }
    return DeclinedAnswer.skips(value) ? new Lapsed(DeclinedAnswer.SKIPPED) : new Given(value);
  }
}
