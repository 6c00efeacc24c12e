package dev.parley.projection;

import dev.parley.protocol.Rejection;
import org.jspecify.annotations.Nullable;

/// The end of a page that is sorted by seq.
final class SeqCursor {

  private static final int DIGITS_MAX = 18;

  private SeqCursor() {}

  /// Returns the seq after which the next page begins.
  ///
  /// @throws Rejection.Invalid if the cursor is malformed
  static long parse(@Nullable String text) {
    if (text == null) {
      return 0;
    }
    if (text.isEmpty()
        || text.length() > DIGITS_MAX
        || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw invalid();
    }
    return Long.parseLong(text);
  }

  static Rejection.Invalid invalid() {
    return new Rejection.Invalid("invalid-cursor", "a cursor is the nextCursor of a page");
  }
}
