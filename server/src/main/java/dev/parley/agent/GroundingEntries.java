package dev.parley.agent;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// Information from the user's application that accompanies a message; it precedes the message in
/// the prompt.
public final class GroundingEntries {

  private GroundingEntries() {}

  /// The entries as one text, if there are any.
  static Optional<String> of(List<JsonNode> entries) {
    return entries.isEmpty()
        ? Optional.empty()
        : Optional.of(
            entries.stream()
                .map(GroundingEntries::line)
                .collect(Collectors.joining("\n\n", "[Information from my application:\n\n", "]")));
  }

  private static String line(JsonNode entry) {
    return entry.path("description").asString("") + ": " + entry.path("value").asString("");
  }
}
