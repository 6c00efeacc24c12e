package dev.parley.tool;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/// Keeps the beginning and the end of the output of a program, and counts the bytes between them.
///
/// One thread fills it; other threads may read it meanwhile. The lock guards the bytes.
final class OutputExcerpt {

  private static final int READ_SIZE = 16 * 1024;
  private static final int LINE_MAX = 200;
  // Escape sequences of terminals for the cursor and for colours: ECMA-48, 5.4 and 8.3.89.
  private static final Pattern TERMINAL_CODE =
      Pattern.compile("\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\))");
  private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}&&[^\n\t]]");

  private final byte[] head;
  private final byte[] tail;
  private long size;

  OutputExcerpt(int headBytes, int tailBytes) {
    this.head = new byte[headBytes];
    this.tail = new byte[tailBytes];
  }

  /// Reads to the end of the stream, or until reading fails.
  void fill(InputStream input) {
    var buffer = new byte[READ_SIZE];
    try {
      for (var count = input.read(buffer); count >= 0; count = input.read(buffer)) {
        add(buffer, count);
      }
    } catch (IOException closed) {
      // The program has ended.
    }
  }

  synchronized void add(byte[] bytes, int count) {
    for (var i = 0; i < count; i++, size++) {
      if (size < head.length) {
        head[(int) size] = bytes[i];
      } else {
        tail[(int) ((size - head.length) % tail.length)] = bytes[i];
      }
    }
  }

  /// The total number of bytes.
  synchronized long size() {
    return size;
  }

  /// The number of bytes that were not kept.
  synchronized long leftOut() {
    return Math.max(0, size - head.length - tail.length);
  }

  /// The kept bytes as text without terminal codes, with a note where bytes were left out.
  synchronized String text() {
    if (isBinary()) {
      return "[binary output, " + size + " bytes]";
    }
    var left = leftOut();
    return left == 0
        ? clean(decode(kept(), 0, (int) size))
        : clean(decode(head, 0, wholeEnd(head)))
            + "\n[… "
            + left
            + " bytes left out …]\n"
            + clean(lastText());
  }

  /// The last line that is not blank; empty if there is none.
  synchronized String lastLine() {
    if (isBinary()) {
      return "";
    }
    var text = leftOut() == 0 ? decode(kept(), 0, (int) size) : lastText();
    var line = clean(text).lines().filter(l -> !l.isBlank()).reduce((_, last) -> last).orElse("");
    return line.length() > LINE_MAX ? line.substring(0, LINE_MAX) + "…" : line;
  }

  private boolean isBinary() {
    var kept = kept();
    for (var b : kept) {
      if (b == 0) {
        return true;
      }
    }
    return false;
  }

  /// The beginning and, in order, the end.
  private byte[] kept() {
    var first = (int) Math.min(size, head.length);
    var last = (int) Math.min(size - first, tail.length);
    var kept = new byte[first + last];
    System.arraycopy(head, 0, kept, 0, first);
    var start = size - first > tail.length ? (int) ((size - first) % tail.length) : 0;
    for (var i = 0; i < last; i++) {
      kept[first + i] = tail[(start + i) % tail.length];
    }
    return kept;
  }

  private String lastText() {
    var kept = kept();
    var start = head.length;
    // The rest of a character whose beginning was left out.
    while (start < kept.length && start < head.length + 3 && (kept[start] & 0xC0) == 0x80) {
      start++;
    }
    return decode(kept, start, kept.length - start);
  }

  /// The end of the last complete character.
  private static int wholeEnd(byte[] bytes) {
    for (var back = 1; back <= Math.min(3, bytes.length); back++) {
      var b = bytes[bytes.length - back] & 0xFF;
      if (b >= 0xC0) {
        var length = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : 2;
        return length > back ? bytes.length - back : bytes.length;
      }
    }
    return bytes.length;
  }

  private static String decode(byte[] bytes, int start, int length) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .decode(ByteBuffer.wrap(bytes, start, length))
          .toString();
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static String clean(String text) {
    var plain = TERMINAL_CODE.matcher(text.replace("\r\n", "\n")).replaceAll("");
    return CONTROL.matcher(plain.replace('\r', '\n')).replaceAll("\uFFFD");
  }
}
