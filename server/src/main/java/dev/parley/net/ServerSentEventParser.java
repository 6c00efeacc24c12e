package dev.parley.net;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Parses server-sent events (WHATWG HTML, 9.2.6). Bytes may be split at any position; lines are
/// decoded as a whole. For one thread.
final class ServerSentEventParser {

  private static final String BYTE_ORDER_MARK = "\uFEFF";
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

  private final int eventBytesMax;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
  private final StringBuilder data = new StringBuilder();
  private String event = "";
  private boolean hasData;
  private @Nullable String id;
  private @Nullable String lastEventId;
  private @Nullable Duration retry;
  private boolean afterReturn;
  private boolean atStart = true;

  ServerSentEventParser(int eventBytesMax) {
    this.eventBytesMax = eventBytesMax;
  }

  /// Consumes bytes up to the end of an event, and returns it; or all bytes, and returns null.
  @Nullable ServerSentEvent parse(ByteBuffer bytes) throws ResponseTooLargeException {
    while (bytes.hasRemaining()) {
      var next = bytes.get();
      var endsLine = next == '\r' || (next == '\n' && !afterReturn);
      if (next != '\n' && next != '\r') {
        if (line.size() + data.length() >= eventBytesMax) {
          throw new ResponseTooLargeException("an event", eventBytesMax);
        }
        line.write(next);
      }
      afterReturn = next == '\r';
      if (endsLine && endLine()) {
        var complete = endEvent();
        if (complete != null) {
          return complete;
        }
      }
    }
    return null;
  }

  /// The event that the empty line after it would complete, or null. A strict client ignores it.
  @Nullable ServerSentEvent endEvent() {
    lastEventId = id;
    var complete = hasData ? new ServerSentEvent(event, data.toString(), id) : null;
    event = "";
    data.setLength(0);
    hasData = false;
    return complete;
  }

  /// The id of the last event that is complete, even if it had no data.
  @Nullable String lastEventId() {
    return lastEventId;
  }

  /// How long a client should wait before it reconnects, if the server has sent it.
  @Nullable Duration retry() {
    return retry;
  }

  /// True if the line is empty, which ends an event.
  private boolean endLine() {
    var text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    if (atStart) {
      atStart = false;
      text = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    }
    if (text.isEmpty()) {
      return true;
    }
    var colon = text.indexOf(':');
    var value = colon < 0 ? "" : text.substring(colon + 1);
    value = value.startsWith(" ") ? value.substring(1) : value;
    switch (colon < 0 ? text : text.substring(0, colon)) {
      case "data" -> {
        data.append(hasData ? "\n" : "").append(value);
        hasData = true;
      }
      case "event" -> event = value;
      case "id" -> id = value.indexOf('\0') < 0 ? value : id;
      case "retry" ->
          retry =
              DIGITS.matcher(value).matches() ? Duration.ofMillis(Long.parseLong(value)) : retry;
      default -> {} // Comments and unknown fields.
    }
    return false;
  }
}
