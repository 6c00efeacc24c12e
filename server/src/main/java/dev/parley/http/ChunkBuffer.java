package dev.parley.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Frames as one chunk of an HTTP response, encoded once for all connections that send them. For one
/// thread, which uses it again for the next frames.
///
/// The line end after a chunk is written together with the next chunk, as Jetty does it. So a chunk
/// can follow those that Jetty has written.
public final class ChunkBuffer {

  private static final byte[] LINE_END = {'\r', '\n'};

  /// More than the length of the line end and of the chunk's size line.
  private static final int FRAMING_MAX = 16;

  /// Outside the heap, so that a write does not copy it.
  private final ByteBuffer usual = ByteBuffer.allocateDirect(FrameStream.WRITE_BYTES + FRAMING_MAX);

  private ByteBuffer chunk = usual;

  /// Replaces the content.
  public void set(ByteBuffer frames) {
    chunk = fits(frames) ? usual.clear() : ByteBuffer.allocate(frames.remaining() + FRAMING_MAX);
    encode(frames, chunk);
  }

  /// A chunk of its own, for frames that only one connection sends.
  static ByteBuffer chunk(ByteBuffer frames) {
    var chunk = ByteBuffer.allocate(frames.remaining() + FRAMING_MAX);
    encode(frames, chunk);
    return chunk;
  }

  private boolean fits(ByteBuffer frames) {
    return frames.remaining() + FRAMING_MAX <= usual.capacity();
  }

  private static void encode(ByteBuffer frames, ByteBuffer chunk) {
    var size = Integer.toHexString(frames.remaining());
    chunk.put(LINE_END).put(size.getBytes(StandardCharsets.US_ASCII)).put(LINE_END);
    chunk.put(frames.duplicate()).flip();
  }

  /// The whole chunk. The next call returns the same buffer.
  ByteBuffer bytes() {
    return chunk.rewind();
  }
}
