package dev.parley.log;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/// Chunks in segments: deflated when that makes them smaller.
final class Packed {

  private static final int RAW = 0;
  private static final int DEFLATED = 1;
  private static final int LEVEL = 4;

  private Packed() {}

  static byte[] pack(byte[] chunk) {
    var out = new ByteSink(chunk.length + 8);
    var space = new byte[chunk.length];
    try (var deflater = new Deflater(LEVEL, true)) {
      deflater.setInput(chunk);
      deflater.finish();
      var length = deflater.deflate(space);
      if (deflater.finished()) {
        out.oneByte(DEFLATED);
        out.number(chunk.length);
        out.raw(Arrays.copyOf(space, length));
        return out.toArray();
      }
    }
    out.oneByte(RAW);
    out.raw(chunk);
    return out.toArray();
  }

  static byte[] unpack(byte[] packed) {
    var in = new ByteSource(packed);
    if (in.oneByte() == RAW) {
      return Arrays.copyOfRange(packed, 1, packed.length);
    }
    var chunk = new byte[in.length()];
    try (var inflater = new Inflater(true)) {
      inflater.setInput(packed, in.position(), packed.length - in.position());
      var length = inflater.inflate(chunk);
      if (length != chunk.length) {
        throw new IllegalStateException("a segment is shorter than it says");
      }
      return chunk;
    } catch (DataFormatException broken) {
      throw new IllegalStateException("a segment cannot be read", broken);
    }
  }
}
