package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Reads server-sent events from a stream. Bytes may be split at any position; lines are decoded as
/// a whole. For one thread.
final class SseReader {

  private static final String BYTE_ORDER_MARK = "\uFEFF";

  /// How long to wait for the end of the stream after its last event, so that the connection can be
  /// reused.
  private static final Duration END = Duration.ofMillis(100);

  private final ResponseBodyStream bytes;
  private final ModelLimits modelLimits;
  private final Deque<SseEvent> ready = new ArrayDeque<>();
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
  private final StringBuilder data = new StringBuilder();
  private String name = "";
  private boolean begun;
  private boolean hasData;
  private boolean afterReturn;
  private boolean atStart = true;
  private long total;

  SseReader(ResponseBodyStream bytes, ModelLimits modelLimits) {
    this.bytes = bytes;
    this.modelLimits = modelLimits;
  }

  /// Returns the next event, or null at the end.
  ///
  /// @throws ModelFailure if the event does not arrive in time, or is too large
  @Nullable SseEvent next() throws IOException, ModelFailure, InterruptedException {
    while (ready.isEmpty()) {
      var more = more();
      if (more.isEmpty()) {
        // Some servers omit the empty line after their last event.
        endEvent();
        return ready.poll();
      }
      for (var buffer : more) {
        feed(buffer);
      }
    }
    return ready.poll();
  }

  /// Reads to the end of the stream, if it arrives soon.
  void drain() throws InterruptedException {
    try {
      for (var left = modelLimits.replyBytesMax(); left > 0; ) {
        var more = bytes.next(END);
        if (more.isEmpty()) {
          return;
        }
        left -= more.stream().mapToLong(ByteBuffer::remaining).sum();
      }
    } catch (IOException | TimeoutException noMatter) {
      // All relevant events have been received.
    }
  }

  private List<ByteBuffer> more() throws IOException, ModelFailure, InterruptedException {
    var patience = begun ? modelLimits.silence() : modelLimits.firstByte();
    try {
      var more = bytes.next(patience);
      begun = true;
      return more;
    } catch (TimeoutException silent) {
      throw ModelFailure.timeout(
          "the model's server sent nothing for " + ModelFailures.format(patience));
    }
  }

  private void feed(ByteBuffer buffer) throws ModelFailure {
    total += buffer.remaining();
    if (total > modelLimits.replyBytesMax()) {
      throw tooLarge("an answer", modelLimits.replyBytesMax());
    }
    while (buffer.hasRemaining()) {
      var b = buffer.get();
      if (b == '\n' || b == '\r') {
        if (b == '\r' || !afterReturn) {
          endLine();
        }
      } else {
        if (line.size() + data.length() >= modelLimits.lineBytesMax()) {
          throw tooLarge("an event", modelLimits.lineBytesMax());
        }
        line.write(b);
      }
      afterReturn = b == '\r';
    }
  }

  private static ModelFailure tooLarge(String what, long limit) {
    return ModelFailure.permanent(
        ErrorCode.LIMIT, "the model's server sent " + what + " of more than " + limit + " bytes");
  }

  private void endLine() {
    var text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    if (atStart) {
      atStart = false;
      text = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    }
    if (text.isEmpty()) {
      endEvent();
      return;
    }
    var colon = text.indexOf(':');
    var value = colon < 0 ? "" : text.substring(colon + 1);
    value = value.startsWith(" ") ? value.substring(1) : value;
    switch (colon < 0 ? text : text.substring(0, colon)) {
      case "data" -> {
        data.append(hasData ? "\n" : "").append(value);
        hasData = true;
      }
      case "event" -> name = value;
      default -> {
        // Comments, ids and unknown fields are ignored.
      }
    }
  }

  private void endEvent() {
    if (hasData) {
      ready.add(new SseEvent(name, data.toString()));
    }
    name = "";
    data.setLength(0);
    hasData = false;
  }
}
