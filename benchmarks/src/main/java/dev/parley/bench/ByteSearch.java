package dev.parley.bench;

/// Searches for text and numbers in bytes.
final class ByteSearch {

  private ByteSearch() {}

  static boolean at(byte[] bytes, int at, byte[] wanted) {
    for (var i = 0; i < wanted.length; i++) {
      if (bytes[at + i] != wanted[i]) {
        return false;
      }
    }
    return true;
  }

  /// Where `wanted` begins between `from` and `to`, or -1.
  static int find(byte[] bytes, int from, int to, byte[] wanted) {
    for (var at = from; at <= to - wanted.length; at++) {
      if (bytes[at] == wanted[0] && at(bytes, at, wanted)) {
        return at;
      }
    }
    return -1;
  }

  /// True if there are digits at `at` and something else follows them before `to`.
  static boolean digitsEnd(byte[] bytes, int at, int to) {
    var i = at;
    while (i < to && digit(bytes[i])) {
      i++;
    }
    return i > at && i < to;
  }

  /// The number that begins at `at`.
  static long number(byte[] bytes, int at) {
    var number = 0L;
    for (var i = at; i < bytes.length && digit(bytes[i]); i++) {
      number = 10 * number + bytes[i] - '0';
    }
    return number;
  }

  private static boolean digit(byte b) {
    return b >= '0' && b <= '9';
  }
}
