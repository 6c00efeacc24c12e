package dev.parley.model;

/// A secret that a provider knows its users by. It does not show itself.
public record ApiKey(String value) {

  private static final String HIDDEN = "***";

  public ApiKey {
    if (value.isBlank() || value.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new IllegalArgumentException("a key is visible ASCII characters without spaces");
    }
  }

  /// The same text without this key in it.
  String hideIn(String text) {
    return text.replace(value, HIDDEN);
  }

  @Override
  public String toString() {
    return HIDDEN;
  }
}
