package dev.parley.log;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/// Chunks in segments: deflated when that makes them smaller. For one thread.
///
/// Deflater and inflater are kept, as making one costs more than packing a usual chunk.
final class Packed implements AutoCloseable {

  private static final int RAW = 0;
  private static final int DEFLATED = 1;
  private static final int LEVEL = 4;

  private final Deflater deflater = new Deflater(LEVEL, true);
  private final Inflater inflater = new Inflater(true);

  byte[] pack(byte[] chunk) {
    var out = new ByteSink(chunk.length + 8);
    var space = new byte[chunk.length];
    deflater.reset();
    deflater.setInput(chunk);
    deflater.finish();
    var length = deflater.deflate(space);
    if (deflater.finished()) {
      out.oneByte(DEFLATED);
      out.number(chunk.length);
      out.raw(Arrays.copyOf(space, length));
    } else {
      out.oneByte(RAW);
      out.raw(chunk);
    }
    return out.toArray();
  }

  byte[] unpack(byte[] packed) {
    var in = new ByteSource(packed);
    if (in.oneByte() == RAW) {
      return Arrays.copyOfRange(packed, 1, packed.length);
    }
    var chunk = new byte[in.length()];
    inflater.reset();
    inflater.setInput(packed, in.position(), packed.length - in.position());
    try {
      if (inflater.inflate(chunk) != chunk.length) {
        throw new IllegalStateException("a segment is shorter than it says");
      }
      return chunk;
    } catch (DataFormatException broken) {
      throw new IllegalStateException("a segment cannot be read", broken);
    }
  }

  @Override
  public void close() {
    deflater.end();
    inflater.end();
  }
}
