package dev.parley.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/// Reads a whole context over HTTP, from the connection to its last event.
record ReplayRequest(double firstMillis, double eventsPerSecond, double bytesPerEvent) {

  private static final int BUFFER = 1 << 18;

  static ReplayRequest read(int port, String path, int events) throws IOException {
    var wire = new SseStreamReader(path, port, false, new ReaderTotals());
    var begin = System.nanoTime();
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    try (var channel = SocketChannel.open(address)) {
      channel.write(ByteBuffer.wrap(wire.request()));
      var buffer = ByteBuffer.allocate(BUFFER);
      var first = 0L;
      var bytes = 0L;
      while (wire.last() < events) {
        var got = channel.read(buffer);
        if (got < 0) {
          throw new IOException("the stream ended at " + wire.last() + " of " + events);
        }
        bytes += got;
        wire.received(buffer.array(), 0, buffer.position());
        buffer.limit(buffer.position()).position(buffer.position() - wire.bytesToKeep());
        buffer.compact();
        first = first == 0 && wire.last() > 0 ? System.nanoTime() : first;
      }
      var seconds = (System.nanoTime() - begin) / 1e9;
      return new ReplayRequest((first - begin) / 1e6, events / seconds, (double) bytes / events);
    }
  }

  /// Bytes per second of a download of `bytes`, with the same buffer.
  static double bytesPerSecond(int port, long bytes) throws IOException {
    var wire = new SseStreamReader("/", port, false, new ReaderTotals());
    var begin = System.nanoTime();
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    try (var channel = SocketChannel.open(address)) {
      channel.write(ByteBuffer.wrap(wire.request()));
      var buffer = ByteBuffer.allocate(BUFFER);
      for (var left = bytes; left > 0; buffer.clear()) {
        var got = channel.read(buffer);
        if (got < 0) {
          throw new IOException("the download ended too early");
        }
        left -= got;
      }
      return bytes / ((System.nanoTime() - begin) / 1e9);
    }
  }
}
