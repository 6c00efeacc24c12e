package dev.parley.bench;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.node.ObjectNode;

/// A context of a running server, with a connection that sends messages and a stream of its events.
/// For one thread.
final class Talk implements AutoCloseable {

  private final Caller caller;
  private final EventLines stream;
  private final String path;

  /// Creates a context. The stream has only events of these kinds; if empty, of all kinds.
  Talk(int port, String kinds) throws IOException {
    caller = new Caller(port);
    var created = caller.post("/api/contexts", "{}");
    path = "/api/contexts/" + field(created, "contextId");
    stream = new EventLines(port, path + "/stream" + (kinds.isEmpty() ? "" : "?kinds=" + kinds));
    stream.await("stream-open");
  }

  /// The context's path.
  String path() {
    return path;
  }

  /// Sends a message; `more` has further fields of the request, such as `,"agentId":"x"`.
  void say(String text, String more) throws IOException {
    caller.post(path + "/messages", "{\"content\":\"" + text + "\"" + more + "}");
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
    caller.close();
  }
}
