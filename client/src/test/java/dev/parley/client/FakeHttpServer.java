package dev.parley.client;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/// A server on plain sockets whose replies, valid or not, the test defines.
final class FakeHttpServer implements AutoCloseable {

  private final ServerSocket listener;
  private final Thread acceptor;
  private final Script script;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final List<FakeRequest> requests = new CopyOnWriteArrayList<>();

  /// The reply to a request.
  interface Script {
    void answer(FakeRequest fakeRequest, FakeReply fakeReply)
        throws IOException, InterruptedException;
  }

  record FakeRequest(
      String method, String path, String query, Map<String, String> headers, String body) {

    String header(String name) {
      return headers.getOrDefault(name, "");
    }
  }

  FakeHttpServer(Script script) {
    try {
      this.script = script;
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      acceptor = Thread.ofVirtual().start(this::accept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /// All requests so far.
  List<FakeRequest> requests() {
    return List.copyOf(requests);
  }

  private void accept() {
    try {
      while (true) {
        var socket = listener.accept();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var fakeRequest = read(new BufferedInputStream(socket.getInputStream()));
      requests.add(fakeRequest);
      script.answer(fakeRequest, new FakeReply(socket));
    } catch (IOException | InterruptedException gone) {
      // The client has disconnected, or the test is over.
    } finally {
      open.remove(socket);
    }
  }

  private static FakeRequest read(InputStream in) throws IOException {
    var first = line(in).split(" ", -1);
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    for (var line = line(in); !line.isEmpty(); line = line(in)) {
      var colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    var length = Integer.parseInt(headers.getOrDefault("Content-Length", "0"));
    var body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    var uri = URI.create(first[1]);
    var query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    return new FakeRequest(first[0].toUpperCase(Locale.ROOT), uri.getPath(), query, headers, body);
  }

  private static String line(InputStream in) throws IOException {
    var text = new StringBuilder();
    for (var b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("the client hung up");
      }
      if (b != '\r') {
        text.append((char) b);
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    stop();
  }

  /// Closes all connections abruptly.
  void stop() {
    try {
      listener.close();
      // The listener may accept one more connection before it stops.
      acceptor.join();
      for (var socket : open) {
        socket.close();
      }
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Writes a reply, byte by byte if necessary.
  static final class FakeReply {
    private final Socket socket;
    private final OutputStream out;
    private boolean chunked;

    FakeReply(Socket socket) throws IOException {
      this.socket = socket;
      this.out = socket.getOutputStream();
    }

    void json(int status, String body, String... headers) throws IOException {
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      var type = status < 400 ? "application/json" : "application/problem+json";
      raw("HTTP/1.1 " + status + " x\r\nContent-Type: " + type + "\r\n");
      for (var header : headers) {
        raw(header + "\r\n");
      }
      raw("Content-Length: " + bytes.length + "\r\nConnection: close\r\n\r\n");
      out.write(bytes);
      out.flush();
    }

    /// Begins a stream. If the connection is lost, a chunked stream is an error, another just ends.
    FakeReply stream(boolean asChunks) throws IOException {
      chunked = asChunks;
      raw(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              + (asChunks ? "Transfer-Encoding: chunked\r\n" : "Connection: close\r\n")
              + "\r\n");
      return this;
    }

    FakeReply send(byte[] bytes, int length) throws IOException {
      if (length > 0) {
        if (chunked) {
          raw(Integer.toHexString(length) + "\r\n");
        }
        out.write(bytes, 0, length);
        if (chunked) {
          raw("\r\n");
        }
        out.flush();
      }
      return this;
    }

    FakeReply send(String text) throws IOException {
      var bytes = text.getBytes(StandardCharsets.UTF_8);
      return send(bytes, bytes.length);
    }

    /// Waits until the client disconnects.
    void hold() throws IOException {
      while (socket.getInputStream().read() >= 0) {
        // Nothing more is expected.
      }
    }

    private void raw(String text) throws IOException {
      out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
