package dev.parley.log;

import dev.parley.log.ByteSink.Uuids;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/// Reads what [ByteSink] wrote. For one thread.
final class ByteSource {

  private final byte[] bytes;
  private int at;

  ByteSource(byte[] bytes) {
    this.bytes = bytes;
  }

  boolean hasMore() {
    return at < bytes.length;
  }

  int position() {
    return at;
  }

  int oneByte() {
    return bytes[at++] & 0xff;
  }

  long number() {
    var value = 0L;
    for (var shift = 0; ; shift += 7) {
      var b = bytes[at++];
      value |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return value;
      }
    }
  }

  int length() {
    return Math.toIntExact(number());
  }

  void skip(int length) {
    at += length;
  }

  byte[] block() {
    var length = length();
    at += length;
    return Arrays.copyOfRange(bytes, at - length, at);
  }

  String text() {
    return text(length());
  }

  String text(int length) {
    at += length;
    return new String(bytes, at - length, length, StandardCharsets.UTF_8);
  }

  /// An id as [ByteSink#id] wrote it.
  String id() {
    var length = length();
    return length == Uuids.MARK ? new UUID(eightBytes(), eightBytes()).toString() : text(length);
  }

  private long eightBytes() {
    var value = 0L;
    for (var i = 0; i < 8; i++) {
      value = (value << 8) | oneByte();
    }
    return value;
  }
}
