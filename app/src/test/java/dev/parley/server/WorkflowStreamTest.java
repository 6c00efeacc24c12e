package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.RandomTaskTrees;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// `format=workflow` on the stream and on pages of events: WORKFLOW-7, WORKFLOW-17, WORKFLOW-25 to WORKFLOW-28.
class WorkflowStreamTest {

  private static final String STREAM = "/api/contexts/c/stream?format=workflow";

  @TempDir Path folder;
  private TestServer testServer;
  private ContextId context;
  private List<Entry> entries;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(100)));
    context = testServer.context("c");
    for (var entry : new RandomTaskTrees(3).entries().stream().skip(1).toList()) {
      if (entry.origin() == null) {
        testServer.append(context, entry.event());
      } else {
        testServer.append(context, entry.origin(), entry.event());
      }
    }
    entries = testServer.log.read(context, Position.START, Integer.MAX_VALUE);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_stream_begins_with_connected_and_says_what_runs() throws Exception {
    try (var reader = testServer.stream(STREAM)) {
      var first = reader.next();

      assertThat(first.event()).isEqualTo("connected");
      assertThat(first.json())
          .isEqualTo(
              Json.mapper()
                  .readTree(
                      """
                      {"event_type":"connected","session_id":"c","run_id":null,
                       "parent_run_id":null,"active_run_id":null,"heartbeat_ms":100,"position":0}
                      """));
    }
  }

  @Test
  void connected_names_the_run_that_was_asked_for_and_its_parent() throws Exception {
    var sub = entries.stream().filter(e -> e.origin() != null && e.origin().parentTaskId() != null);
    var origin = sub.findFirst().orElseThrow().origin();

    try (var reader = testServer.stream(STREAM + "&taskId=" + origin.taskId())) {
      var first = reader.next().json();

      assertThat(first.path("run_id").asString()).isEqualTo(origin.taskId().value());
      assertThat(first.path("parent_run_id").asString()).isEqualTo(origin.parentTaskId().value());
      assertThat(reader.nextEvent().json().path("task_id").asString())
          .isEqualTo(origin.taskId().value());
    }
  }

  @Test
  void frames_have_the_positions_of_the_log_and_a_reader_resumes_after_any() throws Exception {
    var whole = read(STREAM);
    assertThat(whole).hasSizeGreaterThan(50);
    assertThat(whole).extracting(EventReader.Frame::event).contains("workflow.result.final");
    for (var at = 0; at < whole.size() - 1; at += 13) {
      var rest = read(STREAM, "Last-Event-ID", whole.get(at).id());
      assertThat(rest).isEqualTo(whole.subList(at + 1, whole.size()));
    }
  }

  @Test
  void diagnostics_and_internal_events_come_with_debug_only() throws Exception {
    var plain = names(read(STREAM));
    var debug = names(read(STREAM + "&debug=1"));

    assertThat(plain).doesNotContain("workflow.diagnostic.usage", "workflow.node.started");
    assertThat(debug).contains("workflow.diagnostic.usage", "workflow.node.started");
    assertThat(debug).hasSizeGreaterThan(plain.size());
  }

  @Test
  void replay_none_begins_at_the_end_and_full_and_session_at_the_start() throws Exception {
    try (var reader = testServer.stream(STREAM + "&replay=none")) {
      assertThat(reader.next().id()).isEqualTo(entries.getLast().position().toString());
    }
    for (var replay : List.of("full", "session")) {
      try (var reader = testServer.stream(STREAM + "&replay=" + replay)) {
        assertThat(reader.next().id()).isEqualTo("0");
        assertThat(reader.nextEvent().id()).isEqualTo("1");
      }
    }
  }

  @Test
  void a_cursor_ahead_of_the_log_is_told_in_this_dialect() throws Exception {
    try (var reader = testServer.stream(STREAM + "&after=999999")) {
      reader.next();
      var gap = reader.next();
      assertThat(gap.event()).isEqualTo("workflow.stream.dropped");
      assertThat(gap.json().path("reason").asString()).isEqualTo("ahead-of-head");
    }
  }

  @Test
  void merged_deltas_say_where_the_first_stood() throws Exception {
    var merged = read(STREAM + "&merge=true&kinds=content-delta");

    assertThat(merged)
        .anySatisfy(frame -> assertThat(frame.json().path("from_seq").isNumber()).isTrue())
        .allSatisfy(frame -> assertThat(frame.json().has("from_seq")).isTrue());
  }

  @Test
  void pages_of_events_are_the_same_events_in_snake_case() throws Exception {
    var whole = read(STREAM);
    var listed = new ArrayList<JsonNode>();
    var after = "0";
    for (var more = true; more; ) {
      var page =
          Json.mapper()
              .readTree(
                  testServer
                      .get("/api/contexts/c/events?format=workflow&limit=40&after=" + after)
                      .body());
      page.path("events").forEach(listed::add);
      after = page.path("position").asString();
      more = page.path("has_more").asBoolean();
      assertThat(page.has("hasMore")).isFalse();
    }

    assertThat(listed).isEqualTo(whole.stream().map(EventReader.Frame::json).toList());
  }

  @Test
  void the_native_stream_is_not_touched_by_it() throws Exception {
    read(STREAM);
    try (var reader = testServer.stream("/api/contexts/c/stream")) {
      reader.next();
      assertThat(reader.nextEvent().event()).isEqualTo("context-created");
    }
  }

  @Test
  void what_does_not_exist_is_refused() {
    for (var query :
        List.of(
            "stream?format=xml",
            "events?format=xml",
            "stream?format=workflow&replay=some",
            "stream?format=workflow&debug=2",
            "stream?replay=none",
            "events?debug=1",
            "events?format=workflow&replay=none")) {
      assertThat(testServer.get("/api/contexts/c/" + query).statusCode()).as(query).isEqualTo(400);
    }
  }

  private static List<String> names(List<EventReader.Frame> frames) {
    return new ArrayList<>(new HashSet<>(frames.stream().map(EventReader.Frame::event).toList()));
  }

  /// All frames up to the end of the log, to which a heartbeat leads if no event does.
  private List<EventReader.Frame> read(String path, String... headers) throws IOException {
    var head = entries.getLast().position().toString();
    var frames = new ArrayList<EventReader.Frame>();
    try (var reader = testServer.stream(path, headers)) {
      assertThat(reader.next().event()).isEqualTo("connected");
      for (var frame = reader.next(); frame != null; frame = reader.next()) {
        if (frame.event() != null) {
          frames.add(frame);
        }
        if (frame.id().equals(head)) {
          return frames;
        }
      }
    }
    return frames;
  }
}
