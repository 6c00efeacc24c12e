package dev.parley.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/// A growing buffer of JSON in UTF-8. For one thread.
///
/// It exists for speed, because each frame of each stream is written with it: it writes the
/// envelope and the text deltas directly; Jackson writes everything else.
final class JsonBytes {

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  /// Of the text form, with a dash after the last group, too.
  private static final int UUID_LENGTH = 37;

  private byte[] bytes;
  private int size;

  JsonBytes(int capacity) {
    bytes = new byte[capacity];
  }

  byte[] toArray() {
    return Arrays.copyOf(bytes, size);
  }

  int size() {
    return size;
  }

  /// Removes everything after the first `length` bytes.
  void truncate(int length) {
    size = length;
  }

  JsonBytes raw(byte[] json, int from, int to) {
    var length = to - from;
    reserve(length);
    System.arraycopy(json, from, bytes, size, length);
    size += length;
    return this;
  }

  /// Adds a copy of the bytes between `from` and `to` of this buffer.
  JsonBytes repeat(int from, int to) {
    return raw(bytes, from, to);
  }

  /// Adds plain ASCII text that needs no escaping.
  @SuppressWarnings("deprecation") // The fastest way from an ASCII string to bytes.
  JsonBytes ascii(String text) {
    reserve(text.length());
    text.getBytes(0, text.length(), bytes, size);
    size += text.length();
    return this;
  }

  JsonBytes number(long number) {
    return number < 0 ? ascii(Long.toString(number)) : digits(number, length(number));
  }

  /// Adds the last `count` decimal digits of a number that is not negative, with leading zeros.
  JsonBytes digits(long number, int count) {
    reserve(count);
    var rest = number;
    for (var i = size + count - 1; i >= size; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += count;
    return this;
  }

  private static int length(long number) {
    var length = 1;
    for (var rest = number; rest >= 10; rest /= 10) {
      length++;
    }
    return length;
  }

  JsonBytes uuid(UUID uuid) {
    var high = uuid.getMostSignificantBits();
    var low = uuid.getLeastSignificantBits();
    reserve(UUID_LENGTH);
    hex(high, 32, 64);
    hex(high, 16, 32);
    hex(high, 0, 16);
    hex(low, 48, 64);
    hex(low, 0, 48);
    size--; // The dash after the last group.
    return this;
  }

  /// Adds these bits as hexadecimal digits, and a dash.
  private void hex(long bits, int from, int to) {
    for (var shift = to - 4; shift >= from; shift -= 4) {
      bytes[size++] = HEX[(int) (bits >>> shift) & 0xf];
    }
    bytes[size++] = '-';
  }

  /// Adds a quoted and escaped string.
  JsonBytes string(String text) {
    reserve(text.length() * 6 + 2);
    bytes[size++] = '"';
    for (var i = 0; i < text.length(); i++) {
      var c = text.charAt(i);
      if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
        bytes[size++] = (byte) c;
      } else if (c < 0x80) {
        escape(c);
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        utf8(Character.toCodePoint(c, text.charAt(++i)));
      } else if (Character.isSurrogate(c)) {
        unicode(c);
      } else {
        utf8(c);
      }
    }
    bytes[size++] = '"';
    return this;
  }

  private void escape(char c) {
    switch (c) {
      case '"', '\\' -> two(c);
      case '\n' -> two('n');
      case '\r' -> two('r');
      case '\t' -> two('t');
      default -> unicode(c);
    }
  }

  private void two(char c) {
    bytes[size++] = '\\';
    bytes[size++] = (byte) c;
  }

  private void unicode(char c) {
    two('u');
    for (var shift = 12; shift >= 0; shift -= 4) {
      bytes[size++] = HEX[(c >> shift) & 0xf];
    }
  }

  private void utf8(int point) {
    if (point < 0x800) {
      bytes[size++] = (byte) (0xc0 | (point >> 6));
    } else {
      if (point < 0x10000) {
        bytes[size++] = (byte) (0xe0 | (point >> 12));
      } else {
        bytes[size++] = (byte) (0xf0 | (point >> 18));
        bytes[size++] = (byte) (0x80 | ((point >> 12) & 0x3f));
      }
      bytes[size++] = (byte) (0x80 | ((point >> 6) & 0x3f));
    }
    bytes[size++] = (byte) (0x80 | (point & 0x3f));
  }

  private void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
