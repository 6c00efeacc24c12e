package dev.parley.tool;

import dev.parley.task.Asked;
import tools.jackson.databind.JsonNode;

/// What came of a question or of a sign-in.
public sealed interface Answer {

  /// Somebody answered; after a sign-in the value is `true`.
  record Given(JsonNode value) implements Answer {}

  /// Nobody did, for this reason.
  record Lapsed(String reason) implements Answer {}

  /// What this value means, which a person or an agent gave: an answer, or that the question was skipped.
  static Answer of(JsonNode value) {
    return Asked.skips(value) ? new Lapsed(Asked.SKIPPED) : new Given(value);
  }
}
