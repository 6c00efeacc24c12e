package dev.parley.server;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Somebody who uses the sessions of a site as kagent's clients do, over the wire.
final class KagentTestClient {

  private final TestServer testServer;
  private final String[] headers;

  KagentTestClient(TestServer testServer, String... headers) {
    this.testServer = testServer;
    this.headers = headers;
  }

  HttpResponse<String> get(String path) {
    return testServer.get(path, headers);
  }

  HttpResponse<String> send(String method, String path, JsonNode body) {
    var json = body.isMissingNode() ? BodyPublishers.noBody() : BodyPublishers.ofString(body + "");
    return testServer.send(
        testServer
            .request(path, headers)
            .header("Content-Type", "application/json")
            .method(method, json));
  }

  HttpResponse<String> post(String path, JsonNode body) {
    return send("POST", path, body);
  }

  HttpResponse<String> delete(String path) {
    return testServer.send(testServer.request(path, headers).DELETE());
  }

  /// The data of an answer that must be in its envelope, with this status.
  static JsonNode data(int status, HttpResponse<String> reply) {
    var json = Json.mapper().readTree(reply.body());
    if (reply.statusCode() != status || !json.path("error").isBoolean() || !json.has("message")) {
      throw new AssertionError(reply.statusCode() + " " + reply.body());
    }
    return json.path("data");
  }

  /// The text of an error that must be in its form, with this status.
  static String error(int status, HttpResponse<String> reply) {
    var json = Json.mapper().readTree(reply.body());
    if (reply.statusCode() != status || json.size() != 1 || !json.path("error").isString()) {
      throw new AssertionError(reply.statusCode() + " " + reply.body());
    }
    return json.path("error").asString();
  }

  JsonNode session(String id) {
    return data(200, get("/api/sessions/" + id));
  }

  JsonNode tasks(String session) {
    return data(200, get("/api/sessions/" + session + "/tasks"));
  }

  /// The words of the conversation, as a page makes them of the session's tasks (SESSION-5).
  List<String> conversation(String session) {
    return words(tasks(session));
  }

  /// What `extractMessagesFromTasks` gives, without tool calls: each message once, in order.
  static List<String> words(JsonNode tasks) {
    var messages = new LinkedHashMap<String, String>();
    for (var task : tasks) {
      for (var message : task.path("history")) {
        var text = new StringBuilder();
        message.path("parts").forEach(part -> text.append(part.path("text").asString("")));
        if (!text.isEmpty()) {
          messages.putIfAbsent(message.path("messageId").asString(), text.toString());
        }
      }
    }
    return new ArrayList<>(messages.values());
  }

  /// A message to a session, as a page sends it.
  static ObjectNode message(String session, String id, String text) {
    var message = Json.object().put("kind", "message").put("messageId", id).put("role", "user");
    message.put("contextId", session).putArray("parts").addObject().put("kind", "text");
    ((ObjectNode) message.path("parts").get(0)).put("text", text);
    return message;
  }

  /// The results of all frames that a call over A2A 0.3 is answered with (SESSION-10).
  List<JsonNode> frames(String method, ObjectNode params) {
    var reply = rpc(method, params);
    return reply
        .body()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> Json.mapper().readTree(line.substring(6)))
        .map(frame -> frame.has("result") ? frame.path("result") : frame)
        .toList();
  }

  /// What a call over A2A is answered with.
  HttpResponse<String> rpc(String method, ObjectNode params, String... more) {
    var call = Json.object().put("jsonrpc", "2.0").put("id", 1).put("method", method);
    call.set("params", params);
    var all = new ArrayList<>(List.of(headers));
    all.addAll(List.of(more));
    return testServer.post("/a2a/agent-code", call.toString(), all.toArray(String[]::new));
  }

  /// Rewinds by a message, as a page does: before a turn, and then says `text`, if there is any (SESSION-41).
  List<JsonNode> rewind(String session, String before, String text, boolean cancel) {
    var message = message(session, UUID.randomUUID().toString(), text);
    var metadata = message.putObject("metadata");
    metadata.put("kagent_rewind_before_invocation_id", before);
    if (cancel) {
      metadata.put("kagent_rewind_cancel", true);
    }
    var params = Json.object();
    params.set("message", message);
    return frames("message/stream", params);
  }

  /// Says something through the native API and waits until its task has ended; gives the task's id.
  String say(String session, String text) {
    return ended(session, said(session, text));
  }

  /// The same, to this agent; gives the last thing that was said.
  String ask(String session, String agent, String text) {
    ended(session, said(session, agent, text));
    return conversation(session).getLast();
  }

  /// Says something through the native API; gives the task's id.
  String said(String session, String text) {
    return said(session, "agent-code", text);
  }

  String said(String session, String agent, String text) {
    var reply =
        testServer.send(
            testServer
                .request("/api/contexts/" + session + "/messages", headers)
                .header("Content-Type", "application/json")
                .POST(
                    BodyPublishers.ofString(
                        Json.object().put("content", text).put("agentId", agent).toString())));
    if (reply.statusCode() != 202) {
      throw new AssertionError(reply.statusCode() + " " + reply.body());
    }
    return Json.mapper().readTree(reply.body()).path("taskId").asString();
  }

  /// Waits until a task has ended.
  String ended(String session, String task) {
    var context = new ContextId(session);
    var id = new TaskId(task);
    try {
      for (Position at = testServer.log.head(context);
          testServer.log.inspect(context, state -> state.openTask(id).isPresent());
          at = testServer.log.head(context)) {
        testServer.log.await(context, at, Duration.ofSeconds(30));
      }
      return task;
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }
}
