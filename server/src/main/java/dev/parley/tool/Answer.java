package dev.parley.tool;

import tools.jackson.databind.JsonNode;

/// What came of a question or of a sign-in.
public sealed interface Answer {

  /// Somebody answered; after a sign-in the value is `true`.
  record Given(JsonNode value) implements Answer {}

  /// Nobody did, for this reason.
  record Lapsed(String reason) implements Answer {}
}
