package dev.parley.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/// A connection that sends one request after another. It implements only the HTTP that it needs, so
/// that the client costs little of the measured time. For one thread.
final class HttpConnection implements AutoCloseable {

  private final Socket socket;
  private final InputStream in;
  private final int port;
  private final String header;

  HttpConnection(int port) throws IOException {
    this(port, "");
  }

  /// `header` is a complete header line that each request has, or empty.
  HttpConnection(int port, String header) throws IOException {
    this.port = port;
    this.header = header;
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /// Posts JSON and returns the body of the reply.
  String post(String path, String json) throws IOException {
    return send("POST " + path, json);
  }

  String get(String path) throws IOException {
    return send("GET " + path, "");
  }

  /// Opens a stream on a connection of its own, reads until its first byte, and closes it.
  void openStream(String path) throws IOException {
    try (var stream = new HttpConnection(port, header)) {
      stream.write("GET " + path, "");
      var status = stream.line();
      if (!status.startsWith("HTTP/1.1 200")) {
        throw new IOException("the server answered " + status);
      }
      while (!stream.line().isEmpty()) {
        // The headers.
      }
      if (stream.in.read() < 0) {
        throw new IOException("the server closed a stream");
      }
    }
  }

  private String send(String request, String body) throws IOException {
    write(request, body);
    var status = line();
    var length = 0;
    for (var header = line(); !header.isEmpty(); header = line()) {
      if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
        length = Integer.parseInt(header.substring(15).strip());
      }
    }
    var answer = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    if (status.startsWith("HTTP/1.1 503")) {
      throw new NotReadyException(status + " " + answer);
    }
    if (!status.startsWith("HTTP/1.1 2")) {
      throw new IOException("the server answered " + status + " " + answer);
    }
    return answer;
  }

  private void write(String request, String body) throws IOException {
    var length = body.getBytes(StandardCharsets.UTF_8).length;
    var head =
        request
            + " HTTP/1.1\r\nHost: localhost:"
            + port
            + "\r\n"
            + header
            + "Content-Type: application/json\r\nContent-Length: "
            + length
            + "\r\n\r\n";
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
  }

  private String line() throws IOException {
    var line = new StringBuilder();
    for (var next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new IOException("the server closed the connection");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /// The server cannot answer this request yet.
  static final class NotReadyException extends IOException {
    private static final long serialVersionUID = 1;

    NotReadyException(String message) {
      super(message);
    }
  }
}
