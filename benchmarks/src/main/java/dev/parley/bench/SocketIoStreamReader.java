package dev.parley.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A reader of a Socket.IO room over WebSocket: the part of Engine.IO 4 that connects and stays
/// connected.
///
/// Frames have a length, so that counting them costs even less than for server-sent events.
final class SocketIoStreamReader implements StreamReader {

  private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] DELTA = "\"delta\":\"".getBytes(StandardCharsets.ISO_8859_1);
  private static final TextCounter SUBSCRIBED = new TextCounter("\"subscribed\"");
  private static final TextCounter TOKEN = new TextCounter("\"content_delta\"");
  private static final int LENGTH_16 = 126;
  private static final int LENGTH_64 = 127;
  private static final int FINAL_TEXT = 0x81;
  private static final int MASKED = 0x80;

  private final int port;
  private final boolean thorough;
  private final ReaderTotals readerTotals;
  private final @Nullable String agent;
  private boolean upgraded;
  private int keep;

  SocketIoStreamReader(int port, boolean thorough, ReaderTotals readerTotals) {
    this.port = port;
    this.thorough = thorough;
    this.readerTotals = readerTotals;
    this.agent = null;
  }

  /// A reader that subscribes to one agent and counts its tokens.
  SocketIoStreamReader(int port, String agent, ReaderTotals readerTotals) {
    this.port = port;
    this.thorough = false;
    this.readerTotals = readerTotals;
    this.agent = agent;
  }

  @Override
  public byte[] request() {
    return ("GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:"
            + port
            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @Override
  public int bytesToKeep() {
    return keep;
  }

  @Override
  public byte @Nullable [] received(byte[] bytes, int kept, int to) {
    var at = 0;
    if (!upgraded) {
      var end = ByteSearch.find(bytes, 0, to, HEAD_END);
      if (end < 0) {
        keep = to;
        return null;
      }
      upgraded = true;
      at = end + HEAD_END.length;
    }
    byte[] reply = null;
    while (whole(bytes, at, to)) {
      var begin = at + headLength(bytes, at);
      var end = begin + length(bytes, at);
      var answer = packet(bytes, begin, end);
      reply = answer == null ? reply : answer;
      at = end;
    }
    keep = to - at;
    return reply;
  }

  private static boolean whole(byte[] bytes, int at, int to) {
    return to - at >= 2
        && to - at >= headLength(bytes, at)
        && to - at >= headLength(bytes, at) + length(bytes, at);
  }

  private static int headLength(byte[] bytes, int at) {
    return switch (bytes[at + 1]) {
      case LENGTH_16 -> 4;
      case LENGTH_64 -> 10;
      default -> 2;
    };
  }

  private static int length(byte[] bytes, int at) {
    return switch (bytes[at + 1]) {
      case LENGTH_16 -> ((bytes[at + 2] & 0xff) << 8) | (bytes[at + 3] & 0xff);
      case LENGTH_64 -> (int) ByteBuffer.wrap(bytes).getLong(at + 2);
      default -> bytes[at + 1];
    };
  }

  /// Engine.IO: `0` open, `2` ping, `4` message. In a message: `0` connected, `2` event.
  private byte @Nullable [] packet(byte[] bytes, int begin, int end) {
    return switch (bytes[begin]) {
      case '0' -> frame("40");
      case '2' -> frame("3");
      case '4' ->
          agent == null ? message(bytes, begin + 1, end) : agentMessage(bytes, begin + 1, end);
      default -> null;
    };
  }

  private byte @Nullable [] agentMessage(byte[] bytes, int begin, int end) {
    if (bytes[begin] == '0') {
      return frame("42[\"subscribe\",{\"agentId\":\"" + agent + "\"}]");
    }
    if (TOKEN.occursIn(bytes, begin, end)) {
      readerTotals.received(1);
    } else if (SUBSCRIBED.occursIn(bytes, begin, end)) {
      readerTotals.opened();
    }
    return null;
  }

  private byte @Nullable [] message(byte[] bytes, int begin, int end) {
    if (bytes[begin] == '0') {
      readerTotals.opened();
    } else if (bytes[begin] == '2') {
      readerTotals.received(1);
      var text = thorough ? ByteSearch.find(bytes, begin, end, DELTA) : -1;
      if (text >= 0) {
        readerTotals.recordLatency(ByteSearch.number(bytes, text + DELTA.length));
      }
    }
    return null;
  }

  /// A client must mask its frames; a mask of zeros is valid.
  private static byte[] frame(String text) {
    var frame = ByteBuffer.allocate(6 + text.length());
    frame.put((byte) FINAL_TEXT).put((byte) (MASKED | text.length())).putInt(0);
    return frame.put(text.getBytes(StandardCharsets.ISO_8859_1)).array();
  }
}
