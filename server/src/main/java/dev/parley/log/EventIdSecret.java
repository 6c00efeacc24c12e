package dev.parley.log;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/// Creates and stores the secret of a context, from which its event ids are computed.
final class EventIdSecret {

  private EventIdSecret() {}

  static EventIdGenerator random(RandomGenerator random) {
    return new EventIdGenerator(random.nextLong(), random.nextLong());
  }

  static byte[] bytes(EventIdGenerator ids) {
    return ByteBuffer.allocate(16).putLong(ids.key0()).putLong(ids.key1()).array();
  }

  static EventIdGenerator read(byte[] bytes) {
    var buffer = ByteBuffer.wrap(bytes);
    return new EventIdGenerator(buffer.getLong(), buffer.getLong());
  }
}
