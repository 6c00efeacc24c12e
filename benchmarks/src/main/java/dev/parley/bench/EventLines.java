package dev.parley.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/// A stream of server-sent events that is read line by line, to wait for events.
final class EventLines implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader in;

  EventLines(int port, String path) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket
        .getOutputStream()
        .write(new SseStreamReader(path, port, false, new ReaderTotals()).request());
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Waits for an event of this kind.
  void await(String kind) throws IOException {
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("event: " + kind)) {
        return;
      }
    }
    throw new IOException("the stream ended before " + kind);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
