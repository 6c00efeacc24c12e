package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Chunks on sockets that accept only a part.
class ChunkBufferTest {

  private static final int LARGE = 1 << 20;

  private final ChunkBuffer chunkBuffer = new ChunkBuffer();

  @Test
  void a_chunk_has_the_line_end_of_the_chunk_before_and_its_size() throws Exception {
    chunkBuffer.set(StandardCharsets.US_ASCII.encode("data: hello, reader\n\n"));

    var channel = new NarrowChannel(LARGE);
    assertThat(chunkBuffer.writeTo(channel)).isZero();

    assertThat(channel.text()).isEqualTo("\r\n15\r\ndata: hello, reader\n\n");
  }

  @Test
  void a_chunk_is_written_again_for_each_connection() throws Exception {
    var frames = frames(LARGE);
    chunkBuffer.set(ByteBuffer.wrap(frames));
    chunkBuffer.writeTo(new NarrowChannel(100_000));

    var channel = new NarrowChannel(2 * LARGE);
    assertThat(chunkBuffer.writeTo(channel)).isZero();

    assertThat(channel.bytes()).isEqualTo(whole(frames));
  }

  /// Inside the framing of 10 bytes, at its end, inside the frames, and at the ends of parts.
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 9, 10, 11, 65_551, 65_552, 65_553, 131_104, 500_000, LARGE + 9})
  void the_rest_shares_the_bytes_of_the_frames(int accepted) throws Exception {
    var frames = frames(LARGE);
    chunkBuffer.set(ByteBuffer.wrap(frames));
    var channel = new NarrowChannel(accepted);

    var left = chunkBuffer.writeTo(channel);
    var rest = chunkBuffer.rest(left);
    // The rest is written later, when other frames are in the buffer.
    chunkBuffer.set(ByteBuffer.wrap(frames(10)));

    assertThat(left).isEqualTo(LARGE + 10 - accepted);
    assertThat(rest).hasSize(2);
    assertThat(rest[0].remaining()).isEqualTo(Math.max(0, 10 - accepted));
    assertThat(rest[1].array()).isSameAs(frames);
    assertThat(concat(channel.bytes(), rest[0], rest[1])).isEqualTo(whole(frames));
  }

  @Test
  void frames_may_be_a_part_of_an_array() throws Exception {
    var array = "before hello after".getBytes(StandardCharsets.US_ASCII);
    chunkBuffer.set(ByteBuffer.wrap(array, 7, 5));
    var channel = new NarrowChannel(7);

    var rest = chunkBuffer.rest(chunkBuffer.writeTo(channel));

    assertThat(channel.text()).isEqualTo("\r\n5\r\nhe");
    assertThat(StandardCharsets.US_ASCII.decode(rest[1]).toString()).isEqualTo("llo");
    assertThat(rest[1].array()).isSameAs(array);
  }

  private static byte[] frames(int size) {
    var bytes = new byte[size];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  private static byte[] whole(byte[] frames) {
    var framing = "\r\n" + Integer.toHexString(frames.length) + "\r\n";
    return concat(framing.getBytes(StandardCharsets.US_ASCII), ByteBuffer.wrap(frames));
  }

  private static byte[] concat(byte[] first, ByteBuffer... others) {
    var all = ByteBuffer.allocate(2 * LARGE).put(first);
    for (var other : others) {
      all.put(other);
    }
    var bytes = new byte[all.flip().remaining()];
    all.get(bytes);
    return bytes;
  }

  /// Accepts a number of bytes, as a socket whose buffer becomes full.
  private static final class NarrowChannel implements WritableByteChannel {
    private final ByteBuffer accepted;

    NarrowChannel(int size) {
      accepted = ByteBuffer.allocate(size);
    }

    byte[] bytes() {
      return concat(new byte[0], accepted.duplicate().flip());
    }

    String text() {
      return new String(bytes(), StandardCharsets.US_ASCII);
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      var count = Math.min(bytes.remaining(), accepted.remaining());
      accepted.put(bytes.slice(bytes.position(), count));
      bytes.position(bytes.position() + count);
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
