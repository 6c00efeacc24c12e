package dev.parley.server;

import dev.parley.api.agui.AgUiRules;
import dev.parley.protocol.Json;
import dev.parley.server.EventReader.Frame;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// An application that talks AG-UI with a site over the wire, and keeps its messages as one would.
final class AgUiTestClient {

  /// A run as it was streamed.
  record Run(String runId, List<Frame> frames) {

    List<JsonNode> events() {
      return frames.stream().map(Frame::json).toList();
    }

    List<String> types() {
      return events().stream().map(event -> event.path("type").asString()).toList();
    }

    List<JsonNode> all(String type) {
      return events().stream().filter(event -> event.path("type").asString().equals(type)).toList();
    }

    JsonNode one(String type) {
      var found = all(type);
      if (found.size() != 1) {
        throw new AssertionError(type + ": " + found + " in " + types());
      }
      return found.getFirst();
    }

    JsonNode last() {
      return events().getLast();
    }

    JsonNode outcome() {
      return one("RUN_FINISHED").path("outcome");
    }

    JsonNode interrupt() {
      return outcome().path("interrupts").path(0);
    }

    /// What the agent itself said.
    String text() {
      var text = new StringBuilder();
      all("TEXT_MESSAGE_CONTENT").stream()
          .filter(event -> !event.has("subagentRunId"))
          .forEach(event -> text.append(event.path("delta").asString()));
      return text.toString();
    }
  }

  final TestServer site;
  final String agent;
  final String thread;
  final ArrayNode messages = Json.mapper().createArrayNode();
  final ObjectNode more = Json.object();

  AgUiTestClient(TestServer testServer, String agent, String thread) {
    this.site = testServer;
    this.agent = agent;
    this.thread = thread;
  }

  static String id() {
    return UUID.randomUUID().toString();
  }

  ObjectNode said(String content) {
    return messages.addObject().put("id", id()).put("role", "user").put("content", content);
  }

  Run say(String content) throws IOException {
    said(content);
    return run(_ -> {});
  }

  /// Answers the only interrupt of a run.
  Run answer(Run asked, JsonNode payload) throws IOException {
    return run(
        input ->
            input
                .putArray("resume")
                .addObject()
                .put("interruptId", asked.interrupt().path("id").asString())
                .put("status", "resolved")
                .set("payload", payload));
  }

  ObjectNode input() {
    var input = Json.object().put("threadId", thread).put("runId", id());
    input.put("protocolVersion", "1.0");
    input.set("messages", messages.deepCopy());
    input.setAll(more);
    return input;
  }

  Run run(Consumer<ObjectNode> change) throws IOException {
    var input = input();
    change.accept(input);
    return run(input);
  }

  /// Has a run, takes over what was said in it, and checks it.
  Run run(ObjectNode input) throws IOException {
    try (var reader = open(input)) {
      var run = new Run(input.path("runId").asString(), rest(reader));
      AgUiRules.check(run.events(), true);
      learn(run);
      return run;
    }
  }

  EventReader open(ObjectNode input) throws IOException {
    var reader =
        EventReader.open(
            site, "POST /ag-ui/" + agent, input.toString(), "Accept", "text/event-stream");
    if (!reader.head.getFirst().contains(" 200 ")) {
      throw new AssertionError(
          reader.head + " " + site.post("/ag-ui/" + agent, input.toString()).body());
    }
    return reader;
  }

  /// What the API answers to a run that it refuses.
  HttpResponse<String> refused(Consumer<ObjectNode> change) {
    var input = input();
    change.accept(input);
    return site.post("/ag-ui/" + agent, input.toString());
  }

  static List<Frame> rest(EventReader reader) throws IOException {
    var frames = new ArrayList<Frame>();
    for (var frame = reader.next(); frame != null; frame = reader.next()) {
      if (frame.data() != null) {
        frames.add(frame);
      }
    }
    return frames;
  }

  /// The frames up to the first that is wanted.
  static List<Frame> until(EventReader reader, Predicate<JsonNode> wanted) throws IOException {
    var frames = new ArrayList<Frame>();
    for (var frame = reader.next(); frame != null; frame = reader.next()) {
      if (frame.data() != null) {
        frames.add(frame);
        if (wanted.test(frame.json())) {
          return frames;
        }
      }
    }
    throw new AssertionError("the stream ended; there were " + frames);
  }

  private void learn(Run run) {
    for (var start : run.all("TEXT_MESSAGE_START")) {
      var id = start.path("messageId").asString();
      var text = new StringBuilder();
      run.all("TEXT_MESSAGE_CONTENT").stream()
          .filter(event -> event.path("messageId").asString().equals(id))
          .forEach(event -> text.append(event.path("delta").asString()));
      messages.addObject().put("id", id).put("role", "assistant").put("content", text.toString());
    }
  }

  /// What is streamed of the thread after a frame; from the beginning, if that is empty.
  List<Frame> after(String cursor) throws IOException {
    var query = cursor.isEmpty() ? "" : "?after=" + cursor;
    try (var reader = site.stream("/ag-ui/" + agent + "/threads/" + thread + "/events" + query)) {
      return rest(reader);
    }
  }

  String events(String query) {
    return "/ag-ui/" + agent + "/threads/" + thread + "/events" + query;
  }

  HttpResponse<String> cancel() {
    return site.post("/ag-ui/" + agent + "/threads/" + thread + "/cancel", "{}");
  }
}
