package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.protocol.Position;

/// A range of entries that a fork shares: the entries up to `last` that another context wrote.
///
/// `number` is the number of that context, which its segments are stored under. `ids` computes its
/// event ids, and `cipher` decrypts its segments, even after that context was deleted. A fork has a list of these ranges, each of which
/// continues where the previous one ends.
record SharedRange(long number, EventIdGenerator ids, ContentCipher cipher, Position last) {

  /// A range that is not encrypted.
  SharedRange(long number, EventIdGenerator ids, Position last) {
    this(number, ids, ContentCipher.NONE, last);
  }
}
