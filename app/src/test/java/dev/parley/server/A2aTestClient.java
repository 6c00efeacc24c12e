package dev.parley.server;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Speaks A2A with a site, over JSON-RPC, in one version.
final class A2aTestClient {

  final TestServer site;
  final String path;
  final String version;

  A2aTestClient(TestServer testServer, String agent, String version) {
    this(version, testServer, "/a2a/" + agent);
  }

  private A2aTestClient(String version, TestServer testServer, String path) {
    this.site = testServer;
    this.path = path;
    this.version = version;
  }

  /// One that calls the agent where kagent's clients do, in their version.
  static A2aTestClient ofKagent(TestServer testServer, String agent) {
    return new A2aTestClient("0.3", testServer, "/api/a2a/default/" + agent);
  }

  boolean modern() {
    return version.equals("1.0");
  }

  /// A frame of a stream: its id, and its result.
  record Frame(String id, JsonNode result) {}

  /// The whole answer to a call.
  JsonNode call(String method, JsonNode params, String... headers) {
    var reply = site.post(path, request(method, params), with(headers));
    return Json.mapper().readTree(reply.body());
  }

  /// The result of a call that goes well.
  JsonNode result(String method, JsonNode params, String... headers) {
    var answer = call(method, params, headers);
    if (!answer.has("result")) {
      throw new AssertionError(method + " failed: " + answer);
    }
    return answer.path("result");
  }

  /// The number of the error that a call ends with.
  int error(String method, JsonNode params, String... headers) {
    return call(method, params, headers).path("error").path("code").asInt(0);
  }

  String[] with(String... headers) {
    var all = new ArrayList<>(List.of("A2A-Version", version));
    all.addAll(List.of(headers));
    return all.toArray(String[]::new);
  }

  static String request(String method, JsonNode params) {
    var json = Json.object().put("jsonrpc", "2.0").put("id", "r1").put("method", method);
    json.set("params", params);
    return json.toString();
  }

  /// Opens a stream.
  EventReader open(String method, JsonNode params, String... headers) throws IOException {
    var all = new ArrayList<>(List.of(with(headers)));
    all.addAll(List.of("Accept", "text/event-stream"));
    return EventReader.open(
        site, "POST " + path, request(method, params), all.toArray(String[]::new));
  }

  /// All frames of a stream that ends.
  List<Frame> stream(String method, JsonNode params, String... headers) throws IOException {
    try (var reader = open(method, params, headers)) {
      var frames = new ArrayList<Frame>();
      for (var frame = reader.next(); frame != null; frame = reader.next()) {
        if (frame.data() != null) {
          frames.add(frame(frame));
        }
      }
      return frames;
    }
  }

  static Frame frame(EventReader.Frame frame) {
    var json = frame.json();
    return new Frame(
        frame.id() == null ? "" : frame.id(), json.has("result") ? json.path("result") : json);
  }

  /// The parameters of a send with these words.
  ObjectNode say(String messageId, String text) {
    var message = Json.object().put("messageId", messageId);
    message.put("role", modern() ? "ROLE_USER" : "user");
    var part = message.putArray("parts").addObject().put("text", text);
    if (!modern()) {
      message.put("kind", "message");
      part.put("kind", "text");
    }
    return Json.object().set("message", message);
  }

  static ObjectNode in(ObjectNode params, String field, String value) {
    ((ObjectNode) params.path("message")).put(field, value);
    return params;
  }

  String sending() {
    return modern() ? "SendMessage" : "message/send";
  }

  String streaming() {
    return modern() ? "SendStreamingMessage" : "message/stream";
  }

  String getting() {
    return modern() ? "GetTask" : "tasks/get";
  }

  String canceling() {
    return modern() ? "CancelTask" : "tasks/cancel";
  }

  String subscribing() {
    return modern() ? "SubscribeToTask" : "tasks/resubscribe";
  }

  /// A state as this version writes it.
  String state(String kebab) {
    return modern()
        ? "TASK_STATE_" + kebab.toUpperCase(java.util.Locale.ROOT).replace('-', '_')
        : kebab;
  }

  /// Sends words and returns the task.
  JsonNode send(ObjectNode params) {
    var result = result(sending(), params);
    return modern() ? result.path("task") : result;
  }

  static ObjectNode id(String task) {
    return Json.object().put("id", task);
  }

  /// What a task's artifacts say.
  static String text(JsonNode task) {
    var text = new StringBuilder();
    for (var artifact : task.path("artifacts")) {
      for (var part : artifact.path("parts")) {
        text.append(part.path("text").asString(""));
      }
    }
    return text.toString();
  }
}
