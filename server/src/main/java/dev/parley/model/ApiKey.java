package dev.parley.model;

import java.util.regex.Pattern;

/// The API key for a provider. [#toString] does not show it.
public record ApiKey(String value) {

  private static final String HIDDEN = "***";

  /// Shorter keys may occur in words by chance.
  private static final int LENGTH_MIN = 4;

  public ApiKey {
    if (value.isBlank() || value.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new IllegalArgumentException("a key is visible ASCII characters without spaces");
    }
  }

  /// Returns the text without this key. A very short key is replaced only where it is a separate
  /// word.
  String redact(String text) {
    return value.length() < LENGTH_MIN
        ? text.replaceAll("(?<!\\w)" + Pattern.quote(value) + "(?!\\w)", HIDDEN)
        : text.replace(value, HIDDEN);
  }

  @Override
  public String toString() {
    return HIDDEN;
  }
}
