package dev.parley.a2a;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A version of the protocol that is spoken here. Only major and minor numbers are ever negotiated.
public enum Version {
  V0_3("0.3"),
  V1_0("1.0");

  /// The header, and the query parameter, that says which version a request is in.
  public static final String HEADER = "A2A-Version";

  private final String number;

  Version(String number) {
    this.number = number;
  }

  /// As it is written.
  public String number() {
    return number;
  }

  /// The version that a request names; one that names none is in 0.3. Empty if it is not spoken here.
  public static Optional<Version> named(@Nullable String number) {
    if (number == null || number.isBlank()) {
      return Optional.of(V0_3);
    }
    for (var version : values()) {
      if (version.number.equals(number.strip())) {
        return Optional.of(version);
      }
    }
    return Optional.empty();
  }
}
