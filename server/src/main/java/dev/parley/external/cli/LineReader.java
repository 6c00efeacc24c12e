package dev.parley.external.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Splits bytes into lines at line feeds, and removes a carriage return before one. For one thread.
///
/// The bytes of a line are joined before they are decoded as UTF-8, so characters may be split
/// between reads.
final class LineReader {

  /// The maximum length of a line in bytes; the rest of a longer line is dropped.
  static final int LINE_MAX = 16 << 20;

  private final InputStream in;
  private final int max;
  private final byte[] buffer = new byte[8_192];
  private int from;
  private int to;

  LineReader(InputStream in) {
    this(in, LINE_MAX);
  }

  LineReader(InputStream in, int max) {
    this.in = in;
    this.max = max;
  }

  /// The next line; null at the end.
  ProgramOutput.OutputItem.@Nullable OutputLine next() throws IOException {
    var line = new ByteArrayOutputStream();
    var cut = false;
    while (true) {
      if (from == to) {
        from = 0;
        to = in.read(buffer);
        if (to < 0) {
          to = 0;
          return line.size() == 0 ? null : line(line, cut);
        }
      }
      var end = from;
      while (end < to && buffer[end] != '\n') {
        end++;
      }
      var room = Math.min(end - from, max - line.size());
      line.write(buffer, from, room);
      cut |= room < end - from;
      var whole = end < to;
      from = whole ? end + 1 : end;
      if (whole) {
        return line(line, cut);
      }
    }
  }

  private static ProgramOutput.OutputItem.OutputLine line(
      ByteArrayOutputStream bytes, boolean cut) {
    var text = bytes.toString(StandardCharsets.UTF_8);
    return new ProgramOutput.OutputItem.OutputLine(
        text.endsWith("\r") ? text.substring(0, text.length() - 1) : text, cut);
  }
}
