package dev.parley.server;

import dev.parley.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Reads server-sent events off a socket as the specification says, and nothing more.
final class EventReader implements AutoCloseable {

  /// One block of a stream; a heartbeat has no data.
  record Frame(@Nullable String id, @Nullable String event, @Nullable String data) {
    JsonNode json() {
      return Json.mapper().readTree(data);
    }
  }

  private final Socket socket;
  private final BufferedReader lines;
  final List<String> head = new ArrayList<>();

  private EventReader(Socket socket, BufferedReader lines) {
    this.socket = socket;
    this.lines = lines;
  }

  static EventReader open(TestServer testServer, String request, String body, String... headers)
      throws IOException {
    var text = new StringBuilder(request + " HTTP/1.1\r\nHost: localhost\r\n");
    for (var i = 0; i < headers.length; i += 2) {
      text.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
    }
    if (!body.isEmpty()) {
      text.append("Content-Type: application/json\r\nContent-Length: ").append(body.length());
      text.append("\r\n");
    }
    var socket = testServer.connect();
    socket.getOutputStream().write((text + "\r\n" + body).getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().flush();
    var in = socket.getInputStream();
    var head = head(in);
    var reader =
        new EventReader(
            socket,
            new BufferedReader(new InputStreamReader(new Chunks(in), StandardCharsets.UTF_8), 256));
    reader.head.addAll(head);
    return reader;
  }

  /// The next block, or null at the end.
  @Nullable Frame next() throws IOException {
    String id = null;
    String event = null;
    String data = null;
    var any = false;
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isEmpty()) {
        if (any) {
          return new Frame(id, event, data);
        }
        continue;
      }
      any = true;
      if (line.startsWith("id: ")) {
        id = line.substring(4);
      } else if (line.startsWith("event: ")) {
        event = line.substring(7);
      } else if (line.startsWith("data: ")) {
        data = line.substring(6);
      }
    }
    return null;
  }

  /// The next block that is an event of the log.
  @Nullable Frame nextEvent() throws IOException {
    for (var frame = next(); frame != null; frame = next()) {
      if (frame.event() != null && !frame.event().startsWith("stream-")) {
        return frame;
      }
    }
    return null;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private static List<String> head(InputStream in) throws IOException {
    var head = new ArrayList<String>();
    for (var line = line(in); !line.isEmpty(); line = line(in)) {
      head.add(line);
    }
    return head;
  }

  private static String line(InputStream in) throws IOException {
    var text = new StringBuilder();
    for (var c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
      if (c != '\r') {
        text.append((char) c);
      }
    }
    return text.toString();
  }

  /// The content of a chunked reply, as it comes.
  private static final class Chunks extends InputStream {
    private final InputStream in;
    private int left;
    private boolean begun;
    private boolean ended;

    Chunks(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      if (left == 0 && !ended) {
        if (begun) {
          line(in); // The end of the chunk before, which may come with this one.
        }
        begun = true;
        var size = line(in);
        left = size.isEmpty() ? 0 : Integer.parseInt(size, 16);
        ended = left == 0;
      }
      if (ended) {
        return -1;
      }
      var n = in.read(bytes, from, Math.min(length, left));
      left -= n;
      return n;
    }
  }
}
