package dev.parley.log;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

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
    raw(data, 0, data.length);
  }

  void raw(byte[] data, int from, int length) {
    reserve(length);
    System.arraycopy(data, from, bytes, size, length);
    size += length;
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
    if (!Uuids.isUuid(text)) {
      text(text);
      return;
    }
    number(Uuids.MARK);
    reserve(16);
    for (var i = 0; i < text.length(); i += 2) {
      if (text.charAt(i) == '-') {
        i++;
      }
      bytes[size++] = (byte) (Uuids.digit(text.charAt(i)) << 4 | Uuids.digit(text.charAt(i + 1)));
    }
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

    /// True if `text` is exactly the text form of a UUID.
    static boolean isUuid(String text) {
      if (text.length() != LENGTH) {
        return false;
      }
      for (var i = 0; i < LENGTH; i++) {
        var c = text.charAt(i);
        var dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
          return false;
        }
      }
      return true;
    }

    /// The value of a lower-case hexadecimal digit.
    static int digit(char c) {
      return c <= '9' ? c - '0' : c - 'a' + 10;
    }
  }
}
