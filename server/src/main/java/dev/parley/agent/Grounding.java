package dev.parley.agent;

import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the application that a person uses says beside the person's own words: a task is told it before them.
public final class Grounding {

  /// In a task's metadata: entries with a `description` and a `value`.
  public static final String KEY = "grounding";

  private Grounding() {}

  /// The entries as one text, if there are any.
  static Optional<String> of(ObjectNode metadata) {
    var entries = metadata.path(KEY);
    return entries.isEmpty()
        ? Optional.empty()
        : Optional.of(
            entries
                .valueStream()
                .map(Grounding::line)
                .collect(Collectors.joining("\n\n", "[The application that I use says:\n\n", "]")));
  }

  private static String line(JsonNode entry) {
    return entry.path("description").asString("") + ": " + entry.path("value").asString("");
  }
}
