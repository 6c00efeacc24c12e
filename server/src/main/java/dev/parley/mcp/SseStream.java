package dev.parley.mcp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Reads the events of an event stream, and remembers its position. For one thread.
final class SseStream {

  private static final String BYTE_ORDER_MARK = "\uFEFF";
  private static final Duration RETRY_MAX = Duration.ofMinutes(1);

  /// The position in a stream, and how long to wait before it is resumed.
  static final class SseCursor {
    private @Nullable String id;
    private Duration retry = Duration.ofSeconds(1);

    /// The id of the last event; null if none had one.
    @Nullable String id() {
      return id;
    }

    Duration retry() {
      return retry;
    }
  }

  private final InputStream bytes;
  private final SseCursor sseCursor;
  private boolean afterReturn;
  private boolean atStart = true;

  SseStream(InputStream bytes, SseCursor sseCursor) {
    this.bytes = new BufferedInputStream(bytes);
    this.sseCursor = sseCursor;
  }

  /// The data of the next message; null at the end. Events with other names, and events without
  /// data, are skipped.
  @Nullable String next() throws IOException {
    var data = new StringBuilder();
    var name = "";
    @Nullable String id = null;
    while (true) {
      var line = line(data.length());
      if (line == null) {
        return null;
      }
      if (line.isEmpty()) {
        sseCursor.id = id == null ? sseCursor.id : id;
        if (!data.isEmpty() && (name.isEmpty() || name.equals("message"))) {
          return data.toString();
        }
        data.setLength(0);
        name = "";
        continue;
      }
      var colon = line.indexOf(':');
      var value = colon < 0 ? "" : line.substring(colon + 1);
      value = value.startsWith(" ") ? value.substring(1) : value;
      switch (colon < 0 ? line : line.substring(0, colon)) {
        case "data" -> data.append(data.isEmpty() ? "" : "\n").append(value);
        case "event" -> name = value;
        case "id" -> id = value;
        case "retry" -> retry(value);
        default -> {} // Comments and unknown fields.
      }
    }
  }

  private void retry(String value) {
    if (value.matches("[0-9]{1,9}")) {
      var wanted = Duration.ofMillis(Long.parseLong(value));
      sseCursor.retry = wanted.compareTo(RETRY_MAX) < 0 ? wanted : RETRY_MAX;
    }
  }

  /// The next line; null at the end.
  private @Nullable String line(int held) throws IOException {
    var line = new ByteArrayOutputStream();
    while (true) {
      var next = bytes.read();
      if (next == '\n' && afterReturn) {
        afterReturn = false;
        continue;
      }
      afterReturn = next == '\r';
      if (next < 0) {
        return null;
      }
      if (next == '\n' || next == '\r') {
        var text = line.toString(StandardCharsets.UTF_8);
        var first = atStart;
        atStart = false;
        return first && text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
      }
      if (held + line.size() >= McpChannel.MESSAGE_BYTES_MAX) {
        throw new IOException("an event has more than " + McpChannel.MESSAGE_BYTES_MAX + " bytes");
      }
      line.write(next);
    }
  }
}
