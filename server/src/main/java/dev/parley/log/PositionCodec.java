package dev.parley.log;

import dev.parley.protocol.Position;

/// Encodes positions as one integer for the database, in the same order.
final class PositionCodec {

  private static final int K_BITS = 20;

  /// Maximum number of internal events after one public event.
  static final int K_MAX = (1 << K_BITS) - 1;

  private PositionCodec() {}

  static long pack(Position position) {
    return (position.seq() << K_BITS) | Math.min(position.k(), K_MAX);
  }

  static Position unpack(long packed) {
    return new Position(packed >>> K_BITS, (int) (packed & K_MAX));
  }

  /// Does the same for a cursor. A cursor that is too large to pack is after all entries.
  static long packCursor(Position cursor) {
    return cursor.seq() > Long.MAX_VALUE >>> K_BITS ? Long.MAX_VALUE : pack(cursor);
  }
}
