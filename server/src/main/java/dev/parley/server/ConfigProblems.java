package dev.parley.server;

import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Collects the errors of a configuration, so that all of them are reported at once.
final class ConfigProblems {

  private static final int SHOWN_MAX = 20;

  private final List<ConfigProblem> found = new ArrayList<>();

  void add(ConfigProblem problem) {
    found.add(problem);
  }

  boolean any() {
    return !found.isEmpty();
  }

  /// Returns the sections, such as `models`, that have errors.
  Set<String> sections() {
    return found.stream()
        .map(problem -> problem.path().split("[.\\[]", 2)[0])
        .collect(Collectors.toSet());
  }

  /// Returns the result of `part`, or null if it has an error, which is then collected.
  <T> @Nullable T collect(Supplier<T> part) {
    try {
      return part.get();
    } catch (ConfigProblem problem) {
      add(problem);
      return null;
    }
  }

  /// Runs `part`, and collects its error.
  void check(Runnable part) {
    try {
      part.run();
    } catch (ConfigProblem problem) {
      add(problem);
    }
  }

  /// Throws all errors as one rejection, each with its location in the file.
  ///
  /// @throws Rejection.Invalid if there are any
  void throwIfAny(@Nullable ConfigTree file) {
    if (found.isEmpty()) {
      return;
    }
    if (file == null) {
      throw ConfigProblem.rejection(
          shortened(found.stream().map(problem -> String.valueOf(problem.getMessage())).toList()));
    }
    throw ConfigProblem.rejection(
        shortened(
            found.stream().sorted(Comparator.comparing(file::place)).map(file::line).toList()));
  }

  private static List<String> shortened(List<String> lines) {
    if (lines.size() <= SHOWN_MAX) {
      return lines;
    }
    var shown = new ArrayList<>(lines.subList(0, SHOWN_MAX));
    shown.add("and " + (lines.size() - SHOWN_MAX) + " more errors");
    return shown;
  }
}
