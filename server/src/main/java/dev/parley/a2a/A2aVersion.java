package dev.parley.a2a;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A supported version of A2A. Only the major and minor numbers are negotiated.
public enum A2aVersion {
  V0_3("0.3"),
  V1_0("1.0");

  /// The header, and the query parameter, with the version of a request.
  public static final String HEADER = "A2A-Version";

  private final String number;

  A2aVersion(String number) {
    this.number = number;
  }

  /// The number on the wire.
  public String number() {
    return number;
  }

  /// The version of a request that names this number; 0.3 if it names none. Empty if the version is
  /// not supported.
  public static Optional<A2aVersion> parse(@Nullable String number) {
    if (number == null || number.isBlank()) {
      return Optional.of(V0_3);
    }
    for (var a2aVersion : values()) {
      if (a2aVersion.number.equals(number.strip())) {
        return Optional.of(a2aVersion);
      }
    }
    return Optional.empty();
  }
}
