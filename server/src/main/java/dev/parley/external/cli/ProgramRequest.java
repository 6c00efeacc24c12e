package dev.parley.external.cli;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What a program is started with: a prompt, and the session to resume, if any.
public record ProgramRequest(String prompt, @Nullable ResumedSession resume) {

  /// A session to resume: from `place` on if that is given, as a copy if `fork` is set. `totals` is
  /// the last known usage of the session, in the form of the program.
  public record ResumedSession(
      String session, @Nullable String mark, boolean fork, @Nullable JsonNode totals) {}
}
