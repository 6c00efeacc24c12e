package dev.parley.mcp;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/// The last lines that a process wrote, each truncated. The lock guards them.
final class LastLines {

  private static final int LINES_MAX = 10;
  private static final int LINE_MAX = 300;

  private final Deque<String> lines = new ArrayDeque<>();

  /// Reads to the end of the stream.
  void readAll(InputStream in) {
    var buffer = new byte[8 * 1024];
    var line = new byte[LINE_MAX];
    var length = 0;
    try (in) {
      for (var count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        for (var i = 0; i < count; i++) {
          if (buffer[i] == '\n') {
            add(line, length);
            length = 0;
          } else if (length < LINE_MAX) {
            line[length++] = buffer[i];
          }
        }
      }
    } catch (IOException ended) {
      // The process is gone.
    }
    add(line, length);
  }

  synchronized String text() {
    return String.join("\n", lines);
  }

  private synchronized void add(byte[] line, int length) {
    var text = new String(line, 0, length, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return;
    }
    if (lines.size() == LINES_MAX) {
      lines.remove();
    }
    lines.add(text);
  }
}
