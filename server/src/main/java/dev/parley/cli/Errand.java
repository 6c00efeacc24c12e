package dev.parley.cli;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What a program is started for: a prompt, and which session it goes on with, if with one.
public record Errand(String prompt, @Nullable Resume resume) {

  /// A session to go on with: back at `place` if that is given, as a copy if `fork`. `totals` is what it had
  /// spent when last heard of, in the program's words, if that is known.
  public record Resume(
      String session, @Nullable String place, boolean fork, @Nullable JsonNode totals) {}
}
