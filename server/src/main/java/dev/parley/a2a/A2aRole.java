package dev.parley.a2a;

import java.util.Locale;
import java.util.Optional;

/// The role of a message's author.
public enum A2aRole {
  USER,
  AGENT;

  private static final String PREFIX = "ROLE_";

  /// As 0.3 writes it: `user`.
  public String plain() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// As 1.0 writes it: `ROLE_USER`.
  public String proto() {
    return PREFIX + name();
  }

  /// The role with this name in either version.
  public static Optional<A2aRole> of(String name) {
    return switch (name.toUpperCase(Locale.ROOT)) {
      case "USER", "ROLE_USER" -> Optional.of(USER);
      case "AGENT", "ROLE_AGENT" -> Optional.of(AGENT);
      default -> Optional.empty();
    };
  }
}
