package dev.parley.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;

/// Frames as one chunk of an HTTP response, encoded once for all connections that send them. For
/// one thread, which uses it again for the next frames.
///
/// The line end after a chunk is written together with the next chunk, as Jetty does it. So a chunk
/// can follow those that Jetty has written.
///
/// Large chunks are written in parts, so that they need no memory of their own. The content of the
/// frames must never change.
public final class ChunkBuffer {

  /// More than the length of the line end and of the chunk's size line.
  private static final int FRAMING_MAX = 16;

  /// A part of the chunk. Outside the heap, so that a write does not copy it.
  private final ByteBuffer part = ByteBuffer.allocateDirect(FrameStream.WRITE_BYTES + FRAMING_MAX);

  /// Where the part begins in the chunk; -1 if there is none.
  private int partStart = -1;

  private ByteBuffer framing = ByteBuffer.allocate(0);
  private ByteBuffer frames = ByteBuffer.allocate(0);

  /// Replaces the content.
  public void set(ByteBuffer newFrames) {
    framing = framing(newFrames.remaining());
    frames = newFrames.slice();
    partStart = -1;
  }

  /// What precedes a chunk of this size: the line end of the chunk before, and the size line.
  static ByteBuffer framing(int size) {
    var framing = "\r\n" + Integer.toHexString(size) + "\r\n";
    return ByteBuffer.wrap(framing.getBytes(StandardCharsets.US_ASCII));
  }

  /// Writes the chunk as far as the channel accepts it. Returns how many bytes are left.
  int writeTo(WritableByteChannel channel) throws IOException {
    var length = framing.limit() + frames.limit();
    var written = 0;
    do {
      load(written);
      channel.write(part);
      written = partStart + part.position();
    } while (!part.hasRemaining() && written < length);
    return length - written;
  }

  /// The last `count` bytes of the chunk, as two buffers. They stay valid after the next [#set],
  /// and share the bytes of the frames.
  ByteBuffer[] rest(int count) {
    var ofFrames = Math.min(count, frames.limit());
    return new ByteBuffer[] {last(framing, count - ofFrames), last(frames, ofFrames)};
  }

  private static ByteBuffer last(ByteBuffer buffer, int count) {
    return buffer.slice(buffer.limit() - count, count);
  }

  private void load(int from) {
    if (from != partStart) {
      part.clear();
      put(framing, from);
      put(frames, Math.max(0, from - framing.limit()));
      part.flip();
      partStart = from;
    }
    part.rewind();
  }

  private void put(ByteBuffer source, int from) {
    if (from < source.limit()) {
      part.put(source.slice(from, Math.min(part.remaining(), source.limit() - from)));
    }
  }
}
