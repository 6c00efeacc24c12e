package dev.parley.agent;

import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Information from the user's application that accompanies a message; it precedes the message in
/// the prompt.
public final class GroundingEntries {

  /// In a task's metadata: entries with a `description` and a `value`.
  public static final String KEY = "grounding";

  private GroundingEntries() {}

  /// The entries as one text, if there are any.
  static Optional<String> of(ObjectNode metadata) {
    var entries = metadata.path(KEY);
    return entries.isEmpty()
        ? Optional.empty()
        : Optional.of(
            entries
                .valueStream()
                .map(GroundingEntries::line)
                .collect(Collectors.joining("\n\n", "[Information from my application:\n\n", "]")));
  }

  private static String line(JsonNode entry) {
    return entry.path("description").asString("") + ": " + entry.path("value").asString("");
  }
}
