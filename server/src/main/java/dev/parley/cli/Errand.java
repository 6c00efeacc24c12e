package dev.parley.cli;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What a program is started with: a prompt, and the session to resume, if any.
public record Errand(String prompt, @Nullable Resume resume) {

  /// A session to resume: from `place` on if that is given, as a copy if `fork` is set. `totals` is
  /// the last known usage of the session, in the form of the program.
  public record Resume(
      String session, @Nullable String place, boolean fork, @Nullable JsonNode totals) {}
}
