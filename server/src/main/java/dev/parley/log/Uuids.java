package dev.parley.log;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Distinguishes ids that are UUIDs, as most are, from other text.
final class Uuids {

  /// Marks a UUID in place of the length of the id's text; it is greater than any length.
  static final int MARK = 255;

  private static final int LENGTH = 36;

  private Uuids() {}

  /// The UUID whose text form is exactly `text`, or null.
  static @Nullable UUID parse(String text) {
    if (text.length() != LENGTH) {
      return null;
    }
    for (var i = 0; i < LENGTH; i++) {
      var c = text.charAt(i);
      var dash = i == 8 || i == 13 || i == 18 || i == 23;
      if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
        return null;
      }
    }
    return UUID.fromString(text);
  }
}
