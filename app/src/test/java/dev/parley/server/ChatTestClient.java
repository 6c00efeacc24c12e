package dev.parley.server;

import dev.parley.protocol.Json;
import dev.parley.server.EventReader.Frame;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Somebody who uses the chat API of a site, over the wire.
final class ChatTestClient {

  private static final Set<String> ENDS = Set.of("completed", "error", "task_cancelled");

  /// What the API answers to a message.
  record Sent(String conversationId, String messageId, String taskId) {
    static Sent of(JsonNode json) {
      return new Sent(
          json.path("conversationId").asString(),
          json.path("messageId").asString(),
          json.path("taskId").asString());
    }
  }

  private final TestServer testServer;
  private final String[] headers;

  ChatTestClient(TestServer testServer, String... headers) {
    this.testServer = testServer;
    this.headers = headers;
  }

  /// Somebody who shows a token.
  static ChatTestClient as(TestServer testServer, String token) {
    return new ChatTestClient(testServer, "Authorization", "Bearer " + token);
  }

  Sent say(String content) {
    return sent(Json.object().put("content", content));
  }

  Sent say(String conversation, String content) {
    return sent(Json.object().put("content", content).put("conversationId", conversation));
  }

  Sent sent(ObjectNode body) {
    var reply = post(body);
    if (reply.statusCode() != 202) {
      throw new AssertionError(reply.statusCode() + " " + reply.body());
    }
    return Sent.of(json(reply));
  }

  HttpResponse<String> post(ObjectNode body, String... more) {
    var all = new ArrayList<>(List.of(headers));
    all.addAll(List.of(more));
    return testServer.post("/chat/messages", body.toString(), all.toArray(String[]::new));
  }

  HttpResponse<String> get(String path) {
    return testServer.get(path, headers);
  }

  HttpResponse<String> send(String method, String path, String body) {
    return testServer.send(
        testServer
            .request(path, headers)
            .header("Content-Type", "application/json")
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body)));
  }

  JsonNode read(String path) {
    var reply = get(path);
    if (reply.statusCode() != 200) {
      throw new AssertionError(path + ": " + reply.statusCode() + " " + reply.body());
    }
    return json(reply);
  }

  JsonNode messages(String conversation) {
    return read("/chat/conversations/" + conversation + "/messages").path("messages");
  }

  /// The stream of a conversation, or of all if that is empty; `more` are headers.
  EventReader stream(String conversation, String... more) throws IOException {
    var all = new ArrayList<>(List.of(headers));
    all.addAll(List.of(more));
    var query = conversation.isEmpty() ? "" : "?conversationId=" + conversation;
    return testServer.stream("/chat/stream" + query, all.toArray(String[]::new));
  }

  /// What a new subscriber gets until the message's end.
  List<Frame> follow(Sent sent) throws IOException {
    try (var reader = stream(sent.conversationId())) {
      return until(reader, frame -> ends(frame, sent));
    }
  }

  /// The next events, up to the one that is wanted.
  static List<Frame> until(EventReader reader, Predicate<Frame> wanted) throws IOException {
    var frames = new ArrayList<Frame>();
    for (var frame = reader.next(); frame != null; frame = reader.next()) {
      if (frame.event() != null) {
        frames.add(frame);
        if (wanted.test(frame)) {
          return frames;
        }
      }
    }
    throw new AssertionError("the stream ended; there were " + frames);
  }

  /// True for the one event that ends a message.
  static boolean ends(Frame frame, Sent sent) {
    return ENDS.contains(frame.event())
        && !frame.json().has("parentTaskId")
        && frame.json().path("taskId").asString().equals(sent.taskId());
  }

  static boolean ends(Frame frame) {
    return ENDS.contains(frame.event()) && !frame.json().has("parentTaskId");
  }

  static List<String> types(List<Frame> frames) {
    return frames.stream().map(Frame::event).toList();
  }

  static List<JsonNode> all(List<Frame> frames, String type) {
    return frames.stream().filter(frame -> type.equals(frame.event())).map(Frame::json).toList();
  }

  static JsonNode one(List<Frame> frames, String type) {
    var found = all(frames, type);
    if (found.size() != 1) {
      throw new AssertionError(type + ": " + found + " in " + types(frames));
    }
    return found.getFirst();
  }

  static JsonNode json(HttpResponse<String> reply) {
    return Json.mapper().readTree(reply.body());
  }
}
