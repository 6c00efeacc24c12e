package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A detached connection whose reader does not read, and whose writes that wait end when the test
/// says so.
class DetachedConnectionTest {

  private static final long IDLE_TIMEOUT = 1_000;

  /// A write that waits for the network.
  private record PendingWrite(Callback callback, List<ByteBuffer> buffers) {}

  private final BlockingQueue<PendingWrite> writes = new LinkedBlockingQueue<>();
  private ServerSocketChannel listener;
  private SocketChannel reader;
  private SocketChannel channel;
  private volatile long idleMillis;
  private DetachedConnection connection;

  @BeforeEach
  void open() throws Exception {
    listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    reader = SocketChannel.open(listener.getLocalAddress());
    channel = listener.accept();
    channel.setOption(StandardSocketOptions.SO_SNDBUF, 10_000);
    channel.configureBlocking(false);
    connection =
        new DetachedConnection(
            new ServerConnector(new Server()), new StuckEndPoint(), () -> {}, () -> {});
  }

  @AfterEach
  void close() throws Exception {
    channel.close();
    reader.close();
    listener.close();
  }

  @Test
  void a_reader_that_does_not_read_shares_the_bytes_of_the_frames() throws Exception {
    var frames = new byte[32 << 20];
    var chunk = new ChunkBuffer();
    var ended = new CompletableFuture<Boolean>();
    chunk.set(ByteBuffer.wrap(frames));

    assertThat(connection.writeNow(chunk, ended::complete))
        .isEqualTo(FrameStream.DetachedSink.WriteResult.LATER);
    chunk.set(ByteBuffer.wrap(new byte[10]));

    var left = 0L;
    while (!ended.isDone()) {
      var part = next();
      assertThat(part.buffers().get(1).array()).isSameAs(frames);
      assertThat(part.buffers().get(1).remaining()).isBetween(1, FrameStream.WRITE_BYTES);
      left += part.buffers().get(1).remaining();
      assertThat(ended).isNotDone();
      part.callback().succeeded();
    }
    assertThat(ended).isCompletedWithValue(true);
    assertThat(left).isBetween(1L, (long) frames.length);
  }

  @Test
  void a_write_that_fails_later_is_reported() throws Exception {
    var chunk = new ChunkBuffer();
    var ended = new CompletableFuture<Boolean>();
    chunk.set(ByteBuffer.wrap(new byte[32 << 20]));
    connection.writeNow(chunk, ended::complete);

    next().callback().failed(new IOException("reset"));

    assertThat(ended.get(20, TimeUnit.SECONDS)).isFalse();
    assertThat(writes).isEmpty();
  }

  @Test
  void only_a_write_that_makes_no_progress_times_out() throws Exception {
    idleMillis = 10 * IDLE_TIMEOUT;
    assertThat(timesOut()).as("before the write").isFalse();

    var blocked = ManualTime.start("writer", this::write);
    var pending = next();
    idleMillis = IDLE_TIMEOUT - 1;
    assertThat(timesOut()).as("at the start of the write").isFalse();
    idleMillis = IDLE_TIMEOUT;
    assertThat(timesOut()).as("after the timeout").isTrue();

    pending.callback().succeeded();
    blocked.get(20, TimeUnit.SECONDS);
    assertThat(timesOut()).as("after the write").isFalse();
  }

  private PendingWrite next() throws InterruptedException {
    return Objects.requireNonNull(writes.poll(20, TimeUnit.SECONDS));
  }

  private boolean write() throws IOException {
    connection.write(ByteBuffer.wrap(new byte[10]));
    return true;
  }

  private boolean timesOut() {
    return connection.onIdleExpired(new TimeoutException());
  }

  private final class StuckEndPoint extends SocketChannelEndPoint {

    StuckEndPoint() {
      super(channel, null, null, null);
    }

    @Override
    public void write(Callback callback, ByteBuffer... buffers) {
      writes.add(new PendingWrite(callback, List.of(buffers)));
    }

    @Override
    public long getIdleFor() {
      return idleMillis;
    }

    @Override
    public long getIdleTimeout() {
      return IDLE_TIMEOUT;
    }
  }
}
