package dev.parley.tool;

import dev.parley.task.Asked;
import tools.jackson.databind.JsonNode;

/// The result of a question or of a sign-in.
public sealed interface Answer {

  /// An answer was given; after a sign-in the value is `true`.
  record Given(JsonNode value) implements Answer {}

  /// There is no answer, for this reason; `declined` if a person declined to answer.
  record Lapsed(String reason, boolean declined) implements Answer {

    public Lapsed(String reason) {
      this(reason, false);
    }
  }

  /// Converts a value from a person or an agent: an answer, or that the question was skipped or
  /// declined.
  static Answer of(JsonNode value) {
    if (Asked.declines(value)) {
      return new Lapsed(Asked.DECLINED, true);
    }
    return Asked.skips(value) ? new Lapsed(Asked.SKIPPED) : new Given(value);
  }
}
