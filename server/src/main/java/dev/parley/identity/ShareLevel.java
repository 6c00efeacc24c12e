package dev.parley.identity;

import java.util.Locale;

/// What somebody may do with a context of another principal.
public enum ShareLevel {
  /// To read it.
  VIEW,
  /// To read and change it.
  WRITE;

  /// The name on the wire.
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
