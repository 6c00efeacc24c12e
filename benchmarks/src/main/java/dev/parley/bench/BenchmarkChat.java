package dev.parley.bench;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.node.ObjectNode;

/// A context of a running server, with a connection that sends messages and a stream of its events.
/// For one thread.
final class BenchmarkChat implements AutoCloseable {

  private final HttpConnection httpConnection;
  private final EventLines stream;
  private final String path;

  /// Creates a context. The stream has only events of these kinds; if empty, of all kinds.
  BenchmarkChat(int port, String kinds) throws IOException {
    httpConnection = new HttpConnection(port);
    var created = httpConnection.post("/api/contexts", "{}");
    path = "/api/contexts/" + field(created, "contextId");
    stream = new EventLines(port, path + "/stream" + (kinds.isEmpty() ? "" : "?kinds=" + kinds));
    stream.await("stream-open");
  }

  /// The context's path.
  String path() {
    return path;
  }

  /// Sends a message; `more` has further fields of the request, such as `,"agentId":"x"`.
  void send(String text, String more) throws IOException {
    httpConnection.post(path + "/messages", "{\"content\":\"" + text + "\"" + more + "}");
  }

  /// Waits for an event of this kind.
  void await(String kind) throws IOException {
    stream.await(kind);
  }

  static String field(String json, String name) {
    return Json.read(json.getBytes(StandardCharsets.UTF_8), ObjectNode.class).path(name).asString();
  }

  @Override
  public void close() throws IOException {
    stream.close();
    httpConnection.close();
  }
}
