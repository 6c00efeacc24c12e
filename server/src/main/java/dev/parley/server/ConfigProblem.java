package dev.parley.server;

import dev.parley.protocol.Rejection;
import dev.parley.protocol.WireName;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/// An error in the configuration: the path of the key, and the reason.
///
/// A reason never contains the value of a key or token.
final class ConfigProblem extends RuntimeException {

  private static final long serialVersionUID = 1L;
  private static final int SHOWN_MAX = 60;

  private final String path;
  private final String location;
  private final String reason;

  private final boolean ofKey;

  private ConfigProblem(String path, String location, String reason, boolean ofKey) {
    super(path.isEmpty() ? reason : path + ": " + reason, null, false, false);
    this.path = path;
    this.location = location;
    this.reason = reason;
    this.ofKey = ofKey;
  }

  /// An error at `path`, such as `limits.maxTurns` or `agents.code.model`.
  static ConfigProblem invalid(String path, String reason) {
    return new ConfigProblem(path, path, reason, false);
  }

  /// An error of the key itself, not of its value.
  static ConfigProblem invalidKey(String path, String reason) {
    return new ConfigProblem(path, path, reason, true);
  }

  /// A value that is not one of those that are allowed.
  static ConfigProblem notOneOf(String path, String found, Collection<String> allowed) {
    return invalid(
        path,
        "must be one of "
            + String.join(", ", allowed)
            + "; found "
            + quoted(found)
            + suggestion(found, allowed));
  }

  /// A name of something that does not exist.
  static ConfigProblem unknown(String path, String what, String name, Collection<String> known) {
    return invalid(
        path,
        "there is no "
            + what
            + " "
            + shown(name)
            + (known.isEmpty() ? "" : "; known: " + String.join(", ", known))
            + suggestion(name, known));
  }

  /// The constant of `type` that has this name.
  ///
  /// @throws ConfigProblem if there is none
  static <E extends Enum<E> & WireName> E choice(String path, String name, Class<E> type) {
    return WireName.find(type, name).orElseThrow(() -> notOneOf(path, name, names(type)));
  }

  private static <E extends Enum<E> & WireName> List<String> names(Class<E> type) {
    return Arrays.stream(type.getEnumConstants()).map(WireName::wire).toList();
  }

  /// Returns the same problem below `parent`, which is at `parentLocation` in the file.
  ConfigProblem under(String parent, String parentLocation) {
    return new ConfigProblem(
        ConfigTree.join(parent, path), ConfigTree.join(parentLocation, location), reason, ofKey);
  }

  String path() {
    return path;
  }

  /// The path by which the value is found in the file. It has the index of a list item instead of
  /// the item's name.
  String location() {
    return location;
  }

  /// The path and the reason.
  String text() {
    return String.valueOf(getMessage());
  }

  boolean ofKey() {
    return ofKey;
  }

  /// Returns a rejection with one problem per line.
  static Rejection rejection(List<String> lines) {
    return new Rejection.Invalid("invalid-configuration", String.join("\n", lines));
  }

  Rejection rejection() {
    return rejection(List.of(text()));
  }

  static String suggestion(String typed, Collection<String> names) {
    var nearest = NameSuggestions.to(shown(typed), names);
    return nearest.isEmpty() ? "" : ". Did you mean " + String.join(" or ", nearest) + "?";
  }

  static String quoted(String found) {
    return '"' + shown(found) + '"';
  }

  private static String shown(String found) {
    var line = Arrays.stream(found.split("\\R", 2)).findFirst().orElse("");
    return line.length() == found.length() && line.length() <= SHOWN_MAX
        ? line
        : line.substring(0, Math.min(line.length(), SHOWN_MAX)) + "…";
  }
}
