package dev.parley.server;

import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Collects the errors of a configuration, so that all of them are reported at once.
///
/// It ignores errors that only follow from another one: if a value could not be read, nothing
/// reports that it is missing, and nothing reports names that it would have defined.
final class ConfigProblems {

  private static final int SHOWN_MAX = 100;

  private final List<ConfigProblem> found;
  private final Set<String> unread;
  private final String path;
  private final String location;

  ConfigProblems() {
    this(new ArrayList<>(), new HashSet<>(), "", "");
  }

  private ConfigProblems(
      List<ConfigProblem> found, Set<String> unread, String path, String location) {
    this.found = found;
    this.unread = unread;
    this.path = path;
    this.location = location;
  }

  /// Returns the same collection for a section: the paths of errors are relative to the section.
  ConfigProblems under(String section) {
    return under(section, section);
  }

  /// Does the same for a section that the file has at another path, such as `agents[1]` for
  /// `agents.code`.
  ConfigProblems under(String section, String sectionLocation) {
    return new ConfigProblems(
        found, unread, ConfigTree.join(path, section), ConfigTree.join(location, sectionLocation));
  }

  /// Adds an error. It is ignored if the value itself, or one of the keys `causes` of this section,
  /// could not be read.
  void add(ConfigProblem problem, String... causes) {
    var placed = problem.under(path, location);
    if (!unread.contains(placed.path()) && Arrays.stream(causes).noneMatch(this::isUnread)) {
      found.add(placed);
    }
  }

  /// Adds an unknown name. It is ignored if `section`, which defines the names, could not be read.
  void addReference(ConfigProblem problem, String section) {
    if (unread.stream().noneMatch(gap -> section.equals(gap) || section.startsWith(gap + "."))) {
      add(problem);
    }
  }

  /// Adds an error of a value that is then treated as missing.
  void addUnread(ConfigProblem problem, String... paths) {
    found.add(problem.under(path, location));
    markUnread(paths);
  }

  /// Records that a value, or a part of it, could not be read, for a reason that is already known.
  void markUnread(String... paths) {
    for (var gap : paths) {
      unread.add(ConfigTree.join(path, gap));
    }
  }

  /// Returns true if the value of this key could not be read.
  boolean isUnread(String key) {
    return unread.contains(ConfigTree.join(path, key));
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

  /// Returns the result of `part`, or `otherwise` if it has an error, which is then collected.
  <T> T collectOr(T otherwise, Supplier<T> part) {
    var value = collect(part);
    return value == null ? otherwise : value;
  }

  /// Returns the result of `part`, or null if it is rejected. The error is then collected for `key`.
  <T> @Nullable T collectValid(String key, Supplier<T> part) {
    try {
      return part.get();
    } catch (Rejection.Invalid misfit) {
      add(ConfigProblem.invalid(key, String.valueOf(misfit.getMessage())));
      return null;
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
      throw ConfigProblem.rejection(shortened(found.stream().map(ConfigProblem::text).toList()));
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
