package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskId;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// What readers of the agents API get of the lines that a program printed.
@Timeout(60)
class ProgramLinesTest {

  @TempDir Path folder;
  private TestServer testServer;

  @AfterEach
  void close() {
    if (testServer != null) {
      testServer.close();
    }
  }

  private static Path fixture(String name) throws URISyntaxException {
    return Path.of(ProgramLinesTest.class.getResource("/cli/" + name).toURI());
  }

  /// Launches a program that prints these lines. Returns its agent's id when it has ended.
  private String run(String program, Path lines) throws Exception {
    testServer =
        TestServer.configured(
            folder,
            """
            agents:
              - {id: printer, type: cli, cli: %s, permission: allow, command: [/bin/sh, -c, "cat >/dev/null & cat %s", sh]}
            """
                .formatted(program, lines));
    var launched = testServer.post("/api/agents", "{\"type\":\"printer\",\"prompt\":\"go\"}");
    var id = AgentsApiTestBed.id(launched);
    ModelInstructions.await(
        testServer.log,
        new dev.parley.protocol.ContextId(
            AgentsApiTestBed.json(launched).path("sessionId").asString()),
        e -> new TaskId(id).equals(e.taskId()) && e.kind() == Kind.TASK_COMPLETE);
    return id;
  }

  private List<JsonNode> messages(String id, String query) {
    return AgentsApiTestBed.json(testServer.get("/api/agents/" + id + "/messages" + query))
        .valueStream()
        .toList();
  }

  /// All lines, page by page.
  private List<String> lines(String id, int limit) {
    var lines = new ArrayList<String>();
    var cursor = "";
    while (true) {
      var page =
          AgentsApiTestBed.json(
              testServer.get("/api/agents/" + id + "/raw?limit=" + limit + cursor));
      page.path("items").forEach(item -> lines.add(item.path("line").asString()));
      if (!page.path("nextCursor").isString()) {
        return lines;
      }
      cursor = "&cursor=" + page.path("nextCursor").asString();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "claude, claude-stream.jsonl",
    "claude, claude-tool.jsonl",
    "codex, codex-tool.jsonl",
    "gemini, gemini-stream.jsonl"
  })
  void every_line_comes_back_as_it_was_printed(String program, String name) // AGENT-11, AGENT-17
      throws Exception {
    var printed = Files.readAllLines(fixture(name));
    var id = run(program, fixture(name));

    assertThat(lines(id, 100)).isEqualTo(printed);
    assertThat(lines(id, 1)).isEqualTo(printed);
    var messages = messages(id, "");
    var raws = messages.stream().map(m -> m.path("raw")).filter(JsonNode::isString).toList();
    assertThat(raws).isNotEmpty().allMatch(raw -> printed.contains(raw.asString()));
    for (var since = 0; since < messages.size(); since++) {
      assertThat(messages(id, "?limit=1&since=" + since).getFirst()).isEqualTo(messages.get(since));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "claude, claude-stream.jsonl",
    "claude, claude-tool.jsonl",
    "codex, codex-tool.jsonl",
    "gemini, gemini-stream.jsonl"
  })
  void the_stream_has_every_line_as_it_was_printed_also_after_another_start(
      String program, String name) throws Exception {
    var printed = Files.readAllLines(fixture(name));
    var id = run(program, fixture(name));

    var frames = frames(id);
    assertThat(frames)
        .filteredOn(frame -> frame.event().equals("message"))
        .extracting(EventReader.Frame::data)
        .isEqualTo(printed);
    assertThat(frames.getLast().json().path("messageCount").asInt()).isEqualTo(printed.size());
    assertThat(frames).extracting(EventReader.Frame::id).doesNotHaveDuplicates();
    for (var i = 0; i < frames.size() - 1; i++) {
      assertThat(frames(id, "Last-Event-ID", frames.get(i).id()))
          .isEqualTo(frames.subList(i + 1, frames.size()));
    }
  }

  private List<EventReader.Frame> frames(String id, String... headers) throws IOException {
    var frames = new ArrayList<EventReader.Frame>();
    try (var reader = EventReader.open(testServer, "GET /agent/stream/" + id, "", headers)) {
      for (var frame = reader.nextEvent(); frame != null; frame = reader.nextEvent()) {
        frames.add(frame);
      }
    }
    return frames;
  }

  @Test
  void a_message_has_the_line_and_the_keys_that_it_was_made_of()
      throws Exception { // AGENT-14, AGENT-16
    var id = run("claude", fixture("claude-stream.jsonl"));
    var messages = messages(id, "");

    var pieces = of(messages, "content_delta");
    assertThat(pieces).hasSize(5);
    for (var piece : pieces) {
      var line = Json.mapper().readTree(piece.path("raw").asString());
      assertThat(line.path("event").path("delta").path("text").asString())
          .isEqualTo(piece.path("content").asString());
    }
    var delta = of(messages, "message_delta").getFirst();
    assertThat(delta.path("metadata").path("delta").path("stop_reason").asString())
        .isEqualTo("end_turn");
    assertThat(delta.path("metadata").path("uuid").asString())
        .isEqualTo("3f6a8488-cf6c-4c87-ae53-23fde66cb33e");
    // The cost is known from the sums at the end: no line tells it alone.
    assertThat(of(messages, "message_delta")).hasSize(2);
    assertThat(of(messages, "message_delta").getLast().has("raw")).isFalse();
    var response = messages.getLast();
    assertThat(response.path("raw").asString()).startsWith("{\"type\":\"result\"");
    assertThat(response.path("metadata").path("num_turns").asInt()).isEqualTo(1);
    assertThat(response.path("metadata").path("duration_api_ms").asInt()).isEqualTo(157);
    assertThat(response.path("metadata").path("total_cost_usd").asDouble()).isEqualTo(0.00021);
    assertThat(messages(id, "?aggregate=true"))
        .filteredOn(m -> m.has("tokenCount"))
        .allMatch(m -> !m.has("raw"));
  }

  @Test
  void calls_have_the_ids_of_the_program() throws Exception { // AGENT-17
    var messages = messages(run("claude", fixture("claude-tool.jsonl")), "");

    var use = of(messages, "tool_use").getFirst();
    assertThat(use.path("metadata").path("tool_use").path("callId").asString())
        .isEqualTo("toolu_01fake");
    assertThat(use.path("raw").asString()).contains("\"id\":\"toolu_01fake\"");
    var result = of(messages, "tool_result").getFirst();
    assertThat(result.path("metadata").path("tool_result").path("callId").asString())
        .isEqualTo("toolu_01fake");
    assertThat(result.path("raw").asString()).contains("\"tool_use_id\":\"toolu_01fake\"");
  }

  @Test
  void the_log_does_not_hold_a_text_twice_for_its_lines() throws Exception { // CORE-14
    var text = "All work and no play makes a program say the same again and again. ";
    var printed = new ArrayList<String>();
    printed.add(
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}}");
    for (var i = 0; i < 100; i++) {
      printed.add(
          "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\""
              + text
              + "\"}}}");
    }
    printed.add(
        "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\""
            + text.repeat(100)
            + "\"}]}}");
    printed.add("{\"type\":\"stream_event\",\"event\":{\"type\":\"message_stop\"}}");
    printed.add("{\"type\":\"result\",\"subtype\":\"success\"}");
    var id = run("claude", Files.write(folder.resolve("lines"), printed));

    assertThat(lines(id, 500)).isEqualTo(printed);
    var context =
        AgentsApiTestBed.json(testServer.get("/api/agents/" + id)).path("session").path("id");
    assertThat(
            testServer
                .log
                .read(
                    new dev.parley.protocol.ContextId(context.asString()),
                    dev.parley.protocol.Position.START,
                    10_000)
                .stream()
                .filter(entry -> entry.event() instanceof InternalRaw)
                .map(entry -> ((InternalRaw) entry.event()).line()))
        .hasSize(printed.size())
        .noneMatch(line -> line.contains("All work"));
  }

  @Test
  void a_token_that_may_not_read_internal_events_gets_no_lines() throws Exception {
    var quiet = new String[] {"Authorization", "Bearer q"};
    testServer =
        TestServer.configured(
            folder,
            """
            auth: {tokens: [{name: quiet, sha256: %s, internal: false}]}
            agents:
              - {id: printer, type: cli, cli: claude, permission: allow, command: [/bin/sh, -c, "cat >/dev/null & cat %s", sh]}
            """
                .formatted(sha256("q"), fixture("claude-stream.jsonl")));
    var launched =
        testServer.post("/agent/stream", "{\"agent\":\"printer\",\"prompt\":\"go\"}", quiet);
    assertThat(launched.statusCode()).as(launched.body()).isEqualTo(200);
    assertThat(launched.body()).doesNotContain("3f6a8488-cf6c-4c87-ae53-23fde66cb33e");
    // The sums at the end belong to no message.
    var ends = launched.body().split("message_stop", -1);
    assertThat(ends).as(launched.body()).hasSize(2);
    assertThat(ends[1]).doesNotContain("message_delta");

    var agent = "/api/agents/" + launched.headers().firstValue("X-Agent-Id").orElseThrow();
    var refused = testServer.get(agent + "/raw", quiet);
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("internal-forbidden");
    var messages = AgentsApiTestBed.json(testServer.get(agent + "/messages", quiet));
    assertThat(messages).isNotEmpty().noneMatch(message -> message.has("raw"));
    assertThat(messages.toString()).doesNotContain("3f6a8488-cf6c-4c87-ae53-23fde66cb33e");
  }

  private static String sha256(String text) throws NoSuchAlgorithmException {
    var digest = MessageDigest.getInstance("SHA-256");
    return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<JsonNode> of(List<JsonNode> messages, String eventType) {
    return messages.stream()
        .filter(m -> m.path("metadata").path("eventType").asString("").equals(eventType))
        .toList();
  }
}
