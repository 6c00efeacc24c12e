package dev.parley.a2a;

import java.util.Locale;
import java.util.Optional;

/// The state of an A2A task.
public enum A2aState {
  SUBMITTED,
  WORKING,
  INPUT_REQUIRED,
  AUTH_REQUIRED,
  COMPLETED,
  FAILED,
  CANCELED,
  REJECTED,
  UNKNOWN;

  private static final String PREFIX = "TASK_STATE_";

  /// True if the task has ended.
  public boolean terminal() {
    return this == COMPLETED || this == FAILED || this == CANCELED || this == REJECTED;
  }

  /// True if the task waits for its client.
  public boolean interrupted() {
    return this == INPUT_REQUIRED || this == AUTH_REQUIRED;
  }

  /// As 0.3 writes it: `input-required`.
  public String kebab() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /// As 1.0 writes it: `TASK_STATE_INPUT_REQUIRED`.
  public String proto() {
    return PREFIX + (this == UNKNOWN ? "UNSPECIFIED" : name());
  }

  /// The state with this name in either version. Some other spellings are accepted, too.
  public static Optional<A2aState> of(String name) {
    var plain = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
    var wanted = plain.toUpperCase(Locale.ROOT).replace('-', '_');
    if (wanted.equals("UNSPECIFIED")) {
      return Optional.of(UNKNOWN);
    }
    if (wanted.equals("CANCELLED")) {
      return Optional.of(CANCELED);
    }
    for (var state : values()) {
      if (state.name().equals(wanted)) {
        return Optional.of(state);
      }
    }
    return Optional.empty();
  }
}
