package dev.parley.model;

import java.util.regex.Pattern;

/// A secret that a provider knows its users by. It does not show itself.
public record ApiKey(String value) {

  private static final String HIDDEN = "***";

  /// Shorter keys occur in words by chance.
  private static final int LENGTH_MIN = 4;

  public ApiKey {
    if (value.isBlank() || value.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new IllegalArgumentException("a key is visible ASCII characters without spaces");
    }
  }

  /// The same text without this key in it. A key of a few characters is hidden only where it stands alone.
  String hideIn(String text) {
    return value.length() < LENGTH_MIN
        ? text.replaceAll("(?<!\\w)" + Pattern.quote(value) + "(?!\\w)", HIDDEN)
        : text.replace(value, HIDDEN);
  }

  @Override
  public String toString() {
    return HIDDEN;
  }
}
