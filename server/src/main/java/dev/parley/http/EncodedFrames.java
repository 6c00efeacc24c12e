package dev.parley.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Consecutive WebSocket messages, encoded once for all connections that send them.
///
/// Each message is a complete frame with its header. Immutable.
public final class EncodedFrames {

  private static final int FINAL_TEXT = 0x81;
  private static final int LENGTH_8_MAX = 125;
  private static final int LENGTH_16 = 126;
  private static final int LENGTH_16_MAX = 0xffff;
  private static final int LENGTH_64 = 127;

  private final byte[] frames;

  private EncodedFrames(byte[] frames) {
    this.frames = frames;
  }

  /// One message.
  public static EncodedFrames of(String text) {
    return of(List.of(text));
  }

  /// Some messages.
  public static EncodedFrames of(List<String> texts) {
    var payloads = texts.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
    var size = payloads.stream().mapToInt(payload -> head(payload.length) + payload.length).sum();
    var frames = ByteBuffer.allocate(size);
    for (var payload : payloads) {
      frames.put((byte) FINAL_TEXT);
      switch (head(payload.length)) {
        case 2 -> frames.put((byte) payload.length);
        case 4 -> frames.put((byte) LENGTH_16).putShort((short) payload.length);
        default -> frames.put((byte) LENGTH_64).putLong(payload.length);
      }
      frames.put(payload);
    }
    return new EncodedFrames(frames.array());
  }

  /// All of these, in order.
  static EncodedFrames joined(List<EncodedFrames> parcels) {
    if (parcels.size() == 1) {
      return parcels.getFirst();
    }
    var frames = ByteBuffer.allocate(parcels.stream().mapToInt(EncodedFrames::size).sum());
    parcels.forEach(encodedFrames -> frames.put(encodedFrames.frames));
    return new EncodedFrames(frames.array());
  }

  /// The size in bytes.
  public int size() {
    return frames.length;
  }

  /// The texts of the messages.
  public List<String> texts() {
    var texts = new ArrayList<String>();
    for (var at = 0; at < frames.length; at = end(at)) {
      texts.add(new String(frames, payload(at), end(at) - payload(at), StandardCharsets.UTF_8));
    }
    return texts;
  }

  /// The start of the payload of the frame at `at`.
  int payload(int at) {
    return at
        + switch (frames[at + 1]) {
          case LENGTH_16 -> 4;
          case LENGTH_64 -> 10;
          default -> 2;
        };
  }

  /// The end of the frame at `at`.
  int end(int at) {
    var bytes = ByteBuffer.wrap(frames);
    var length =
        switch (frames[at + 1]) {
          case LENGTH_16 -> Short.toUnsignedInt(bytes.getShort(at + 2));
          case LENGTH_64 -> Math.toIntExact(bytes.getLong(at + 2));
          default -> frames[at + 1];
        };
    return payload(at) + length;
  }

  /// The bytes from `from` to `to`.
  ByteBuffer slice(int from, int to) {
    return ByteBuffer.wrap(frames, from, to - from).slice();
  }

  private static int head(int length) {
    if (length <= LENGTH_8_MAX) {
      return 2;
    }
    return length <= LENGTH_16_MAX ? 4 : 10;
  }
}
