package dev.parley.tool;

import dev.parley.task.Asked;
import tools.jackson.databind.JsonNode;

/// What came of a question or of a sign-in.
public sealed interface Answer {

  /// Somebody answered; after a sign-in the value is `true`.
  record Given(JsonNode value) implements Answer {}

  /// Nobody did, for this reason; `declined` if a person said that they do not want to answer.
  record Lapsed(String reason, boolean declined) implements Answer {

    public Lapsed(String reason) {
      this(reason, false);
    }
  }

  /// What this value means, which a person or an agent gave: an answer, or that the question was skipped or declined.
  static Answer of(JsonNode value) {
    if (Asked.declines(value)) {
      return new Lapsed(Asked.DECLINED, true);
    }
    return Asked.skips(value) ? new Lapsed(Asked.SKIPPED) : new Given(value);
  }
}
