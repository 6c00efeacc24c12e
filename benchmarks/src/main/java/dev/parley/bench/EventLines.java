package dev.parley.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// A stream of server-sent events that is read line by line, to wait for events.
final class EventLines implements AutoCloseable {

  private static final String ID = "id: ";
  private static final String KIND = "event: ";

  private final Socket socket;
  private final BufferedReader in;
  private String position = "";

  EventLines(int port, String path) throws IOException {
    this(port, new SseStreamReader(path, port, false, new ReaderTotals()).request());
  }

  private EventLines(int port, byte[] request) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.getOutputStream().write(request);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Posts JSON; the response is the stream.
  static EventLines post(int port, String path, String json) throws IOException {
    return new EventLines(port, postRequest(port, path, json));
  }

  /// A POST that asks for a stream.
  static byte[] postRequest(int port, String path, String json) {
    var body = json.getBytes(StandardCharsets.UTF_8);
    var head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: 127.0.0.1:"
            + port
            + "\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length
            + "\r\n\r\n";
    return (head + json).getBytes(StandardCharsets.UTF_8);
  }

  /// Waits for an event of this kind.
  void await(String kind) throws IOException {
    for (var next = next(); next.isPresent(); next = next()) {
      if (next.get().equals(kind)) {
        return;
      }
    }
    throw new IOException("the stream ended before " + kind);
  }

  /// Waits for the next event and returns its kind; empty at the end of the stream.
  Optional<String> next() throws IOException {
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      if (line.startsWith(ID)) {
        position = line.substring(ID.length());
      } else if (line.startsWith(KIND)) {
        return Optional.of(line.substring(KIND.length()));
      }
    }
    return Optional.empty();
  }

  /// Reads the JSON of the event that [#next] returned.
  String data() throws IOException {
    return String.valueOf(in.readLine());
  }

  /// The position of the last event; empty before the first one.
  String position() {
    return position;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
