package dev.parley.log;

import dev.parley.protocol.Position;

/// Positions as one whole number, in the same order, for the database.
final class Positions {

  private static final int K_BITS = 20;

  /// How many internal events may follow one public event.
  static final int K_MAX = (1 << K_BITS) - 1;

  private Positions() {}

  static long pack(Position position) {
    return (position.seq() << K_BITS) | Math.min(position.k(), K_MAX);
  }

  static Position unpack(long packed) {
    return new Position(packed >>> K_BITS, (int) (packed & K_MAX));
  }

  /// As [#pack], but a cursor beyond what can be packed stands after everything.
  static long packCursor(Position cursor) {
    return cursor.seq() > Long.MAX_VALUE >>> K_BITS ? Long.MAX_VALUE : pack(cursor);
  }
}
