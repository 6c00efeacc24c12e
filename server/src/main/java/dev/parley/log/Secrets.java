package dev.parley.log;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/// Creates and stores the secret of a context, from which its event ids are computed.
final class Secrets {

  private Secrets() {}

  static EventIds random(RandomGenerator random) {
    return new EventIds(random.nextLong(), random.nextLong());
  }

  static byte[] bytes(EventIds ids) {
    return ByteBuffer.allocate(16).putLong(ids.key0()).putLong(ids.key1()).array();
  }

  static EventIds read(byte[] bytes) {
    var buffer = ByteBuffer.wrap(bytes);
    return new EventIds(buffer.getLong(), buffer.getLong());
  }
}
