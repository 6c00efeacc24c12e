package dev.parley.bench;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Finds a text in bytes with Horspool's algorithm: clients that count events must cost little.
final class TextCounter {

  private final byte[] wanted;
  private final int[] skips = new int[256];

  TextCounter(String text) {
    wanted = text.getBytes(StandardCharsets.ISO_8859_1);
    Arrays.fill(skips, wanted.length);
    for (var i = 0; i < wanted.length - 1; i++) {
      skips[wanted[i] & 0xff] = wanted.length - 1 - i;
    }
  }

  /// True if the text occurs between `from` and `to`.
  boolean occursIn(byte[] bytes, int from, int to) {
    var last = wanted.length - 1;
    for (var at = from; at + last < to; at += skips[bytes[at + last] & 0xff]) {
      if (bytes[at + last] == wanted[last] && ByteSearch.at(bytes, at, wanted)) {
        return true;
      }
    }
    return false;
  }
}
