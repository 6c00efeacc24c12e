package dev.parley.log;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// Compresses the chunks in segments, if that makes them smaller. For one thread.
///
/// The deflater and the inflater are created on first use and kept, because creating one costs more
/// than packing a usual chunk.
final class ChunkPacker implements AutoCloseable {

  private static final int RAW = 0;
  private static final int DEFLATED = 1;
  private static final int LEVEL = 4;

  private @Nullable Deflater usedDeflater;
  private @Nullable Inflater usedInflater;

  byte[] pack(byte[] chunk) {
    var out = new ByteSink(chunk.length + 8);
    var space = new byte[chunk.length];
    var deflater = deflater();
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
    var inflater = inflater();
    inflater.reset();
    inflater.setInput(packed, in.position(), packed.length - in.position());
    try {
      if (inflater.inflate(chunk) != chunk.length) {
        throw new IllegalStateException("a segment is shorter than its stated length");
      }
      return chunk;
    } catch (DataFormatException broken) {
      throw new IllegalStateException("a segment cannot be decompressed", broken);
    }
  }

  private Deflater deflater() {
    var deflater = usedDeflater;
    if (deflater == null) {
      deflater = new Deflater(LEVEL, true);
      usedDeflater = deflater;
    }
    return deflater;
  }

  private Inflater inflater() {
    var inflater = usedInflater;
    if (inflater == null) {
      inflater = new Inflater(true);
      usedInflater = inflater;
    }
    return inflater;
  }

  @Override
  public void close() {
    if (usedDeflater != null) {
      usedDeflater.end();
    }
    if (usedInflater != null) {
      usedInflater.end();
    }
  }
}
