package dev.parley.log;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// A growing byte buffer: numbers are written as varints, text as UTF-8. For one thread.
final class ByteSink {

  private byte[] bytes;
  private int size;

  ByteSink(int capacity) {
    bytes = new byte[capacity];
  }

  int size() {
    return size;
  }

  byte[] toArray() {
    return Arrays.copyOf(bytes, size);
  }

  void clear() {
    size = 0;
  }

  void oneByte(int value) {
    reserve(1);
    bytes[size++] = (byte) value;
  }

  void number(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("a stored number must not be negative: " + value);
    }
    reserve(10);
    var rest = value;
    while (rest >= 0x80) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  void raw(byte[] data) {
    reserve(data.length);
    System.arraycopy(data, 0, bytes, size, data.length);
    size += data.length;
  }

  void block(byte[] data) {
    number(data.length);
    raw(data);
  }

  void text(String text) {
    block(text.getBytes(StandardCharsets.UTF_8));
  }

  /// Writes an id: a canonical UUID takes 16 bytes, other ids are text, and a missing id is empty
  /// text.
  void id(String text) {
    var uuid = Uuids.parse(text);
    if (uuid == null) {
      text(text);
      return;
    }
    number(Uuids.MARK);
    reserve(16);
    for (var shift = 56; shift >= 0; shift -= 8) {
      bytes[size] = (byte) (uuid.getMostSignificantBits() >>> shift);
      bytes[size + 8] = (byte) (uuid.getLeastSignificantBits() >>> shift);
      size++;
    }
    size += 8;
  }

  private void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }

  /// Distinguishes ids that are UUIDs, as most are, from other text.
  static final class Uuids {

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
}
