package dev.parley.client;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Parses the bytes of an event stream into frames; the bytes may be split anywhere.
///
/// Lines are split as bytes and then decoded, so a character that arrives in two parts needs no
/// special case. Unlike a browser, the parser also returns blocks without data, because a heartbeat
/// is one, and it rejects invalid UTF-8 instead of replacing it. For one thread.
final class SseParser {

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};
  private static final int RETRY_DIGITS_MAX = 9;

  private final int frameMax;
  private final Consumer<SseFrame> frames;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(1024);

  private boolean afterReturn;
  private boolean atStart = true;

  private boolean begun;
  private @Nullable String id;
  private String event = "";
  private @Nullable StringBuilder data;
  private @Nullable Duration retry;

  /// Passes each frame to `frames`, and rejects frames of more than `frameMax` bytes.
  SseParser(int frameMax, Consumer<SseFrame> frames) {
    this.frameMax = frameMax;
    this.frames = frames;
  }

  /// Adds the next bytes.
  ///
  /// @throws BadAnswer if they are invalid; the parser cannot be used after that
  void feed(byte[] bytes, int length) {
    var from = 0;
    for (var i = 0; i < length; i++) {
      var b = bytes[i];
      if (b != '\n' && b != '\r') {
        afterReturn = false;
        continue;
      }
      keep(bytes, from, i);
      from = i + 1;
      if (b == '\r' || !afterReturn) {
        endLine();
      }
      afterReturn = b == '\r';
    }
    keep(bytes, from, length);
  }

  private void keep(byte[] bytes, int from, int to) {
    if (to > from) {
      var held = line.size() + (data == null ? 0 : data.length());
      if (held + (to - from) > frameMax) {
        throw new BadAnswer("the server sent a frame of more than " + frameMax + " bytes");
      }
      line.write(bytes, from, to - from);
    }
  }

  private void endLine() {
    var bytes = line.toByteArray();
    line.reset();
    var start = 0;
    if (atStart) {
      atStart = false;
      start = startsWithMark(bytes) ? BYTE_ORDER_MARK.length : 0;
    }
    if (start == bytes.length) {
      endFrame();
    } else if (bytes[start] != ':') {
      field(decode(bytes, start));
    }
  }

  private void field(String text) {
    var colon = text.indexOf(':');
    var name = colon < 0 ? text : text.substring(0, colon);
    var value = colon < 0 ? "" : text.substring(colon + 1);
    if (value.startsWith(" ")) {
      value = value.substring(1);
    }
    switch (name) {
      case "data" -> {
        if (data == null) {
          data = new StringBuilder(value);
        } else {
          data.append('\n').append(value);
        }
        begun = true;
      }
      case "event" -> {
        event = value;
        begun = true;
      }
      case "id" -> {
        if (value.indexOf('\0') < 0) {
          id = value;
          begun = true;
        }
      }
      case "retry" -> {
        if (digits(value)) {
          retry = Duration.ofMillis(Long.parseLong(value));
          begun = true;
        }
      }
      default -> {
        // The standard requires that unknown fields are ignored.
      }
    }
  }

  private void endFrame() {
    if (!begun) {
      return;
    }
    var frame =
        new SseFrame(
            id, event.isEmpty() ? "message" : event, data == null ? "" : data.toString(), retry);
    begun = false;
    id = null;
    event = "";
    data = null;
    retry = null;
    frames.accept(frame);
  }

  private static String decode(byte[] bytes, int start) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes, start, bytes.length - start))
          .toString();
    } catch (CharacterCodingException malformed) {
      throw new BadAnswer("the server sent bytes that are not UTF-8", malformed);
    }
  }

  private static boolean startsWithMark(byte[] bytes) {
    return bytes.length >= 3
        && bytes[0] == BYTE_ORDER_MARK[0]
        && bytes[1] == BYTE_ORDER_MARK[1]
        && bytes[2] == BYTE_ORDER_MARK[2];
  }

  private static boolean digits(String text) {
    return !text.isEmpty()
        && text.length() <= RETRY_DIGITS_MAX
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /// One block of an event stream; `data` is empty if there was none.
  record SseFrame(@Nullable String id, String event, String data, @Nullable Duration retry) {}
}
