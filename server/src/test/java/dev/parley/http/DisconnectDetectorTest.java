package dev.parley.http;

import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Connections with one stream after another.
class DisconnectDetectorTest {

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void a_connection_can_be_watched_again_right_after_it_was_called_off()
      throws IOException, InterruptedException {
    try (var disconnectDetector = new DisconnectDetector(new SystemThreads());
        var listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var left = new CountDownLatch(1);
      try (var reader = SocketChannel.open(listener.getLocalAddress());
          var connection = listener.accept()) {
        connection.configureBlocking(false);
        for (var i = 0; i < 200; i++) {
          disconnectDetector.watch(connection, () -> {}).run();
        }
        var callOff = disconnectDetector.watch(connection, left::countDown);
        reader.shutdownOutput();
        left.await();
        callOff.run();
      }
    }
  }
}
