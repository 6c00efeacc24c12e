package dev.parley.external.proxy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Reads server-sent events from a byte stream. For one thread.
final class ServerSentEventReader {

  /// The maximum size of an event in bytes.
  static final int EVENT_MAX = 16 << 20;

  private final InputStream in;
  private final byte[] buffer = new byte[8_192];
  private int from;
  private int to;
  private @Nullable String id;

  ServerSentEventReader(InputStream in) {
    this.in = in;
  }

  /// The next event; null at the end. An incomplete last event is ignored.
  ///
  /// @throws IOException if reading fails or an event is too large
  @Nullable ServerSentEvent next() throws IOException {
    var event = "";
    var data = new StringBuilder();
    var hasData = false;
    for (var line = line(); line != null; line = line()) {
      if (line.isEmpty()) {
        if (hasData) {
          return new ServerSentEvent(event, data.toString(), id);
        }
        event = "";
        continue;
      }
      var colon = line.indexOf(':');
      var name = colon < 0 ? line : line.substring(0, colon);
      var value = colon < 0 ? "" : line.substring(colon + 1);
      value = value.startsWith(" ") ? value.substring(1) : value;
      switch (name) {
        case "data" -> {
          data.append(hasData ? "\n" : "").append(value);
          hasData = true;
          if (data.length() > EVENT_MAX) {
            throw tooLarge();
          }
        }
        case "event" -> event = value;
        case "id" -> id = value;
        default -> {} // Comments and unknown fields.
      }
    }
    return null;
  }

  /// The next line without its line break; null if the stream ends before it.
  private @Nullable String line() throws IOException {
    var line = new ByteArrayOutputStream();
    while (true) {
      if (from == to) {
        from = 0;
        to = Math.max(0, in.read(buffer));
        if (to == 0) {
          return null;
        }
      }
      var end = from;
      while (end < to && buffer[end] != '\n') {
        end++;
      }
      line.write(buffer, from, end - from);
      if (line.size() > EVENT_MAX) {
        throw tooLarge();
      }
      var whole = end < to;
      from = whole ? end + 1 : end;
      if (whole) {
        var text = line.toString(StandardCharsets.UTF_8);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
    }
  }

  private static IOException tooLarge() {
    return new IOException("an event has more than " + EVENT_MAX + " bytes");
  }
}
