package dev.parley.log;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Tells ids that are UUIDs, as most are, from other text.
final class Uuids {

  /// Stands where the length of an id's text would, and is longer than any.
  static final int MARK = 255;

  private static final int LENGTH = 36;

  private Uuids() {}

  /// The UUID that prints exactly as `text`, if there is one.
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
