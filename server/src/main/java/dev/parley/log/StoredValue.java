package dev.parley.log;

import dev.parley.encryption.ContentCipher.ValuePlace;
import dev.parley.protocol.Position;

/// The places of encrypted values in the tables of a log. `number` is that of the context.
final class StoredValue {

  private StoredValue() {}

  /// A chunk of a block. The chunk itself contains its position in the context.
  static ValuePlace chunk(long number) {
    return new ValuePlace("chunk", number, 0);
  }

  static ValuePlace segment(long number, long last) {
    return new ValuePlace("segment", number, last);
  }

  /// The state in the row of the context, as of the last sealed entry.
  static ValuePlace state(long number, Position sealed) {
    return new ValuePlace("state", number, PositionCodec.pack(sealed));
  }

  /// A state that is kept with the segments.
  static ValuePlace keptState(long number, long last) {
    return new ValuePlace("kept-state", number, last);
  }

  /// The heads of artifacts in the row with this key.
  static ValuePlace heads(long number, String artifact) {
    return new ValuePlace("heads/" + artifact, number, 0);
  }
}
