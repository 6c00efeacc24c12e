package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What clients of a proxy get, from agents that are no programs.
class ProxyClientTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_prompt_is_answered_by_lines_and_a_truthful_end()
      throws IOException { // AGENT-1, AGENT-2, AGENT-3
    var frames = stream("{\"prompt\":\"count to 3\"}");
    var lines = messages(frames);
    assertThat(frames.getFirst().event()).isEqualTo("message");
    assertThat(lines.getFirst().path("subtype").asString()).isEqualTo("init");
    assertThat(deltas(lines)).isEqualTo("1 2 3");
    assertThat(lines)
        .filteredOn(line -> line.path("type").asString().equals("assistant"))
        .extracting(line -> line.path("message").path("content").get(0).path("text").asString())
        .contains("1 2 3");
    var result = lines.getLast();
    assertThat(result.path("type").asString()).isEqualTo("result");
    assertThat(result.path("is_error").asBoolean()).isFalse();
    assertThat(result.path("result").asString()).isEqualTo("1 2 3");
    var complete = frames.getLast();
    assertThat(complete.event()).isEqualTo("complete");
    assertThat(complete.json().path("status").asString()).isEqualTo("success");
    assertThat(complete.json().path("messageCount").asInt()).isEqualTo(lines.size());
    assertThat(complete.json().path("duration").isNumber()).isTrue();
    assertThat(frames.getFirst().id()).isNotNull();
    assertThat(complete.id()).isNotNull();
  }

  @Test
  void a_tool_is_a_line_of_use_and_one_of_its_result() throws IOException { // AGENT-17
    Files.writeString(folder.resolve("a.txt"), "apples");
    var lines = messages(stream("{\"prompt\":\"read a.txt\",\"agent\":\"agent-code\"}"));
    var use =
        lines.stream()
            .map(line -> line.path("message").path("content").path(0))
            .filter(block -> block.path("type").asString("").equals("tool_use"))
            .findFirst()
            .orElseThrow();
    assertThat(use.path("name").asString()).isEqualTo("read_file");
    var result =
        lines.stream()
            .map(line -> line.path("message").path("content").path(0))
            .filter(block -> block.path("type").asString("").equals("tool_result"))
            .findFirst()
            .orElseThrow();
    assertThat(result.path("tool_use_id")).isEqualTo(use.path("id"));
    assertThat(result.path("content").asString()).contains("apples");
  }

  @Test
  void a_failure_is_an_error_and_a_failed_end() throws IOException { // AGENT-4, AGENT-5
    var frames = stream("{\"prompt\":\"fail\",\"agent\":\"agent-code\"}");
    assertThat(frames).anyMatch(f -> "error".equals(f.event()) && f.json().has("error"));
    assertThat(frames.getLast().event()).isEqualTo("complete");
    assertThat(frames.getLast().json().path("status").asString()).isEqualTo("failed");
  }

  @Test
  void a_stream_that_is_left_goes_on_and_can_be_taken_up() throws IOException { // AGENT-9, CORE-6
    String agent;
    String last = null;
    var seen = new ArrayList<String>();
    try (var reader =
        EventReader.open(
            testServer,
            "POST /agent/stream",
            "{\"prompt\":\"count slowly to 8\",\"agent\":\"agent-code\"}")) {
      agent = agent(reader);
      for (var i = 0; i < 4; i++) {
        var frame = reader.nextEvent();
        seen.add(frame.data());
        last = frame.id() == null ? last : frame.id();
      }
    }
    try (var again =
        EventReader.open(testServer, "GET /agent/stream/" + agent, "", "Last-Event-ID", last)) {
      for (var frame = again.nextEvent(); frame != null; frame = again.nextEvent()) {
        seen.add(frame.data());
        last = frame.id() == null ? last : frame.id();
      }
    }
    var whole = new ArrayList<String>();
    try (var all = EventReader.open(testServer, "GET /agent/stream/" + agent, "")) {
      for (var frame = all.nextEvent(); frame != null; frame = all.nextEvent()) {
        whole.add(frame.data());
      }
    }
    assertThat(seen).isEqualTo(whole);
    assertThat(testServer.get("/agent/stream/" + agent, "Last-Event-ID", last).statusCode())
        .isEqualTo(204);
  }

  @Test
  void after_each_frame_the_next_one_comes_and_none_twice() throws IOException { // CORE-6
    Files.writeString(folder.resolve("a.txt"), "apples");
    List<EventReader.Frame> frames;
    String agent;
    try (var reader =
        EventReader.open(
            testServer,
            "POST /agent/stream",
            "{\"prompt\":\"read a.txt\",\"agent\":\"agent-code\"}")) {
      agent = agent(reader);
      frames = all(reader);
    }
    assertThat(frames)
        .extracting(EventReader.Frame::id)
        .doesNotContainNull()
        .doesNotHaveDuplicates();
    for (var i = 0; i < frames.size() - 1; i++) {
      try (var reader =
          EventReader.open(
              testServer, "GET /agent/stream/" + agent, "", "Last-Event-ID", frames.get(i).id())) {
        assertThat(all(reader)).isEqualTo(frames.subList(i + 1, frames.size()));
      }
    }
  }

  private static String agent(EventReader reader) {
    return reader.head.stream()
        .filter(line -> line.startsWith("X-Agent-Id: "))
        .map(line -> line.substring(12))
        .findFirst()
        .orElseThrow();
  }

  private static List<EventReader.Frame> all(EventReader reader) throws IOException {
    var frames = new ArrayList<EventReader.Frame>();
    for (var frame = reader.nextEvent(); frame != null; frame = reader.nextEvent()) {
      frames.add(frame);
    }
    return frames;
  }

  @Test
  void an_id_ahead_of_all_is_refused_with_what_there_is() throws IOException {
    String agent;
    try (var reader =
        EventReader.open(
            testServer, "POST /agent/stream", "{\"prompt\":\"say hi\",\"agent\":\"agent-code\"}")) {
      agent = agent(reader);
      all(reader);
    }
    var ahead = testServer.get("/agent/stream/" + agent, "Last-Event-ID", "100000");
    assertThat(ahead.statusCode()).isEqualTo(400);
    assertThat(ahead.body()).contains("cursor-ahead", "100000", "leave it out");
    assertThat(testServer.get("/agent/stream/" + agent, "Last-Event-ID", "x~y").statusCode())
        .isEqualTo(400);
  }

  @Test
  void an_agent_is_started_counted_and_stopped() { // AGENT-9
    var started =
        testServer.post(
            "/agent/start", "{\"prompt\":\"count slowly to 1000\",\"agent\":\"agent-code\"}");
    assertThat(started.statusCode()).isEqualTo(201);
    var agent = json(started.body()).path("agent_id").asString();
    var health = json(testServer.get("/health").body());
    assertThat(health.path("active_agents").asInt()).isEqualTo(1);
    assertThat(health.path("status").asString()).isEqualTo("ok");
    assertThat(health.has("timestamp")).isTrue();
    var stopped = testServer.post("/agent/stop/" + agent, "{}");
    assertThat(stopped.statusCode()).isEqualTo(200);
    assertThat(json(stopped.body()).path("status").asString()).isEqualTo("terminated");
    assertThat(testServer.post("/agent/stop/nobody", "{}").statusCode()).isEqualTo(404);
    assertThat(json(testServer.get("/health").body()).path("active_agents").asInt()).isZero();
    var frames = testServer.get("/agent/stream/" + agent).body();
    assertThat(frames).contains("event: complete").contains("\"status\":\"terminated\"");
  }

  @Test
  void what_an_agent_cannot_do_is_refused() { // AGENT-9
    for (var body :
        List.of(
            "{}",
            "{\"prompt\":\" \"}",
            "{\"prompt\":\"hi\",\"model\":\"opus\"}",
            "{\"prompt\":\"hi\",\"allowed_tools\":[\"Bash\"]}",
            "{\"prompt\":\"hi\",\"mcp_config\":\"not json\"}",
            "{\"prompt\":\"hi\",\"mcp_strict\":true}",
            "{\"prompt\":\"hi\",\"working_directory\":\"/nowhere\"}",
            "{\"prompt\":\"hi\",\"agent\":\"nobody\"}")) {
      assertThat(testServer.post("/agent/stream", body).statusCode()).as(body).isEqualTo(400);
    }
    var unknown =
        testServer.post("/agent/stream", "{\"prompt\":\"hi\",\"session_id\":\"nowhere\"}");
    assertThat(unknown.statusCode()).isEqualTo(404);
  }

  @Test
  void the_lines_of_a_program_are_passed_on_as_they_were_once_durable()
      throws IOException { // AGENT-2, AGENT-21
    var context = testServer.context("c");
    var task = new TaskId("t1");
    var origin = Origin.root(task, new AgentTypeId("agent-code"));
    var created =
        new TaskCreated(
            Initiator.USER, Json.object().put("raw", "all"), null, "hi", null, null, null, null);
    testServer.append(context, origin, created);
    testServer.append(context, origin, new TaskStatus(TaskState.WORKING, null, null));
    var lines = List.of("{\"type\":\"x\", \"n\": 1.0}", "noise \u001b[1m", "{\"ü\":\"\\u00fc\"}");
    try (var reader = EventReader.open(testServer, "GET /agent/stream/t1", "")) {
      for (var line : lines) {
        testServer.append(context, origin, new InternalRaw("claude", line));
        assertThat(reader.nextEvent().data()).isEqualTo(line);
      }
      testServer.append(context, origin, new TaskStatus(TaskState.COMPLETED, null, null));
      testServer.append(context, origin, new TaskComplete("done", null, null));
      var complete = reader.nextEvent();
      assertThat(complete.event()).isEqualTo("complete");
      assertThat(complete.json().path("messageCount").asInt()).isEqualTo(3);
      assertThat(reader.nextEvent()).isNull();
    }
    var raw = json(testServer.get("/api/agents/t1/raw?limit=2").body());
    assertThat(raw.path("items")).hasSize(2);
    var rest =
        json(
            testServer
                .get("/api/agents/t1/raw?cursor=" + raw.path("nextCursor").asString())
                .body());
    assertThat(rest.path("items"))
        .extracting(item -> item.path("line").asString())
        .containsExactly(lines.getLast());
    assertThat(rest.has("nextCursor")).isFalse();
  }

  private List<EventReader.Frame> stream(String body) throws IOException {
    var frames = new ArrayList<EventReader.Frame>();
    try (var reader = EventReader.open(testServer, "POST /agent/stream", body)) {
      for (var frame = reader.nextEvent(); frame != null; frame = reader.nextEvent()) {
        frames.add(frame);
      }
    }
    return frames;
  }

  private static List<JsonNode> messages(List<EventReader.Frame> frames) {
    return frames.stream()
        .filter(frame -> "message".equals(frame.event()))
        .map(EventReader.Frame::json)
        .toList();
  }

  private static String deltas(List<JsonNode> lines) {
    return lines.stream()
        .map(line -> line.path("event").path("delta"))
        .filter(delta -> delta.path("type").asString("").equals("text_delta"))
        .map(delta -> delta.path("text").asString())
        .reduce("", String::concat);
  }

  private static JsonNode json(String text) {
    return Json.mapper().readTree(text);
  }
}
