package dev.parley.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/// A group of readers that share one thread.
final class ReaderGroup implements AutoCloseable {

  private static final int BUFFER = 1 << 18;

  private final Selector selector = Selector.open();
  private final InetSocketAddress server;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
  private final byte[] bytes = new byte[2 * BUFFER];
  private final Thread thread;
  private volatile boolean closed;

  /// A connection, and the bytes that its stream reader needs again.
  private static final class Reader {
    final SocketChannel channel;
    final StreamReader wire;
    byte[] kept = {};

    Reader(SocketChannel channel, StreamReader streamReader) {
      this.channel = channel;
      this.wire = streamReader;
    }
  }

  ReaderGroup(int port) throws IOException {
    server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    thread = Thread.ofPlatform().name("bench-crowd").unstarted(this::run);
    thread.start();
  }

  /// Connects another reader. For one thread at a time.
  void add(StreamReader streamReader) throws IOException {
    var channel = SocketChannel.open(server);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.write(ByteBuffer.wrap(streamReader.request()));
    channel.configureBlocking(false);
    selector.wakeup();
    channel.register(selector, SelectionKey.OP_READ, new Reader(channel, streamReader));
  }

  private void run() {
    try {
      while (!closed) {
        selector.select(key -> read((Reader) key.attachment()), 100);
      }
    } catch (IOException | UncheckedIOException broken) {
      if (!closed) {
        System.err.println("a reader lost its connection: " + broken.getMessage());
      }
    }
  }

  private void read(Reader reader) {
    try {
      buffer.clear();
      if (reader.channel.read(buffer) < 0) {
        throw new IOException("the server closed the connection");
      }
      buffer.flip();
      var kept = reader.kept.length;
      var to = kept + buffer.remaining();
      System.arraycopy(reader.kept, 0, bytes, 0, kept);
      buffer.get(bytes, kept, buffer.remaining());
      var reply = reader.wire.received(bytes, kept, to);
      reader.kept = java.util.Arrays.copyOfRange(bytes, to - reader.wire.bytesToKeep(), to);
      if (reply != null) {
        reader.channel.write(ByteBuffer.wrap(reply));
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    selector.wakeup();
    for (var key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
  }
}
