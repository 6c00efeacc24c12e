package dev.parley.cli;

import org.jspecify.annotations.Nullable;

/// What a program is started for: a prompt, and which session it goes on with, if with one.
record Errand(String prompt, @Nullable Resume resume) {

  /// A session to go on with: back at `place` if that is given, as a copy if `fork`.
  record Resume(String session, @Nullable String place, boolean fork) {}
}
