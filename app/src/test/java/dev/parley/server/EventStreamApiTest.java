package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpLimits;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Streams: EVENT-57, EVENT-58, EVENT-64, EVENT-66, EVENT-74 to EVENT-77.
class EventStreamApiTest {

  private static final Origin TASK = Origin.root(new TaskId("t1"), new AgentTypeId("a"));
  private static final Origin OTHER = Origin.root(new TaskId("t2"), new AgentTypeId("a"));

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(100)));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_stream_opens_with_a_cursor_and_the_right_headers() throws Exception {
    testServer.context("c");

    try (var reader = testServer.stream("/api/contexts/c/stream?after=1")) {
      var first = reader.next();

      assertThat(reader.head)
          .contains(
              "HTTP/1.1 200 OK",
              "Content-Type: text/event-stream",
              "Cache-Control: no-cache",
              "X-Accel-Buffering: no",
              "Connection: keep-alive");
      assertThat(first.event()).isEqualTo("stream-open");
      assertThat(first.id()).isEqualTo("1");
      assertThat(first.json())
          .isEqualTo(
              Json.mapper()
                  .readTree(
                      "{\"kind\":\"stream-open\",\"contextId\":\"c\",\"heartbeatMs\":100,"
                          + "\"head\":1,\"position\":1}"));
    }
  }

  @Test
  void a_reader_that_waits_gets_an_event_when_it_happens() throws Exception {
    var context = testServer.context("c");
    try (var reader = testServer.stream("/api/contexts/c/stream?after=1")) {
      reader.next();

      testServer.append(context, state(1));

      var frame = reader.nextEvent();
      assertThat(frame.id()).isEqualTo("2");
      assertThat(frame.event()).isEqualTo("state-updated");
      assertThat(frame.data()).isEqualTo(EventJson.text(entries(context).getLast()));
    }
  }

  @Test
  void heartbeats_move_the_cursor_of_a_reader_whose_filter_lets_nothing_pass() throws Exception {
    var context = testServer.context("c");
    testServer.append(context, state(1));

    try (var reader = testServer.stream("/api/contexts/c/stream?kinds=task-created")) {
      assertThat(reader.next().id()).isEqualTo("0");
      assertThat(reader.next()).isEqualTo(new EventReader.Frame("2", null, null));
    }
  }

  @Test
  void a_reader_cut_at_two_hundred_random_points_has_exactly_the_log() throws Exception {
    assertCutsHarmless("", _ -> true);
  }

  @Test
  void a_filtered_reader_cut_at_random_points_has_exactly_its_part_of_the_log() throws Exception {
    assertCutsHarmless("taskId=t1&exclude=content-complete", e -> TASK.equals(e.origin()));
  }

  @Test
  void a_reader_of_internal_events_cut_at_random_points_has_them_all() throws Exception {
    assertCutsHarmless("internal=true", _ -> true);
  }

  private void assertCutsHarmless(String query, Predicate<Entry> wanted) throws Exception {
    var context = testServer.context("c");
    var internal = query.contains("internal");
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var writer = threads.submit(() -> write(context, 2_000));
      var random = new Random(7);
      var seen = new ArrayList<String>();
      var cursor = "0";
      for (var cut = 0; cut < 200; cut++) {
        try (var reader =
            testServer.stream("/api/contexts/c/stream?" + query, "Last-Event-ID", cursor)) {
          for (var n = random.nextInt(15); n > 0; n--) {
            cursor = take(reader.next(), seen, cursor);
          }
        }
      }
      writer.get();
      try (var reader =
          testServer.stream("/api/contexts/c/stream?" + query, "Last-Event-ID", cursor)) {
        while (Position.parse(cursor).compareTo(testServer.log.head(context)) < 0) {
          cursor = take(reader.next(), seen, cursor);
        }
      }
      assertThat(seen)
          .isEqualTo(
              entries(context).stream()
                  .filter(e -> internal || !e.event().internal())
                  .filter(wanted)
                  .map(EventJson::text)
                  .toList());
    }
  }

  private static String take(EventReader.Frame frame, List<String> seen, String cursor) {
    if (frame.event() != null && !frame.event().startsWith("stream-")) {
      seen.add(frame.data());
    }
    return frame.id() == null ? cursor : frame.id();
  }

  @Test
  void a_hundred_readers_of_one_context_all_get_everything() throws Exception {
    var context = testServer.context("c");
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var readers =
          IntStream.range(0, 100).mapToObj(_ -> threads.submit(() -> readTo(1_001))).toList();
      write(context, 1_000);
      for (var reader : readers) {
        assertThat(reader.get())
            .isEqualTo(
                entries(context).stream()
                    .filter(e -> !e.event().internal())
                    .limit(1_001)
                    .map(EventJson::text)
                    .toList());
      }
    }
  }

  private List<String> readTo(int count) throws IOException {
    try (var reader = testServer.stream("/api/contexts/c/stream")) {
      var seen = new ArrayList<String>();
      while (seen.size() < count) {
        seen.add(reader.nextEvent().data());
      }
      return seen;
    }
  }

  @Test
  void a_reader_that_does_not_read_slows_nobody_and_misses_nothing() throws Exception {
    var context = testServer.context("c");
    var large = "x".repeat(100_000);
    try (var slow = testServer.stream("/api/contexts/c/stream");
        var quick = testServer.stream("/api/contexts/c/stream")) {
      slow.nextEvent();
      // More than the sockets' buffers hold: the slow one's thread now waits in its write.
      for (var i = 0; i < 200; i++) {
        testServer.append(context, new StateUpdated(Json.object().put("n", i).put("large", large)));
      }
      for (var frame = quick.nextEvent(); !frame.id().equals("201"); frame = quick.nextEvent()) {
        assertThat(frame.data()).isNotEmpty();
      }

      for (var seq = 2; seq <= 201; seq++) {
        assertThat(slow.nextEvent().id()).isEqualTo(Integer.toString(seq));
      }
    }
  }

  @Test
  void a_reader_that_stops_reading_is_let_go_after_a_while() throws Exception {
    var quick = new HttpLimits(1 << 20, 10, Duration.ofSeconds(2), Duration.ofSeconds(1));
    try (var small =
        TestServer.open(folder.resolve("stall"), TestServer.Wish.USUAL.limits(quick))) {
      var context = small.context("c");
      for (var i = 0; i < 200; i++) {
        small.append(context, new StateUpdated(Json.object().put("x", "x".repeat(100_000))));
      }
      try (var stuck = small.stream("/api/contexts/c/stream")) {
        assertThat(stuck.head).contains("HTTP/1.1 200 OK");
        small.awaitStreams(0);
      }
    }
  }

  @Test
  void merged_deltas_are_the_same_text_and_say_where_they_began() throws Exception {
    var context = testServer.context("c");
    testServer.append(context, TASK, created());
    testServer.append(context, TASK, new TaskStatus(TaskState.WORKING, null, null));
    for (var i = 0; i < 10; i++) {
      testServer.append(context, TASK, delta(i, "b1"));
    }
    testServer.append(context, TASK, delta(0, "b2"));

    try (var reader = testServer.stream("/api/contexts/c/stream?after=3&merge=true")) {
      var merged = reader.nextEvent();
      assertThat(merged.id()).isEqualTo("13");
      assertThat(merged.json().path("fromSeq").asInt()).isEqualTo(4);
      assertThat(merged.json().path("delta").asString()).isEqualTo("0 1 2 3 4 5 6 7 8 9 ");
      assertThat(reader.nextEvent().json().has("fromSeq")).isFalse();
    }
  }

  @Test
  void a_cursor_ahead_of_the_head_gets_a_gap_and_goes_on_from_the_head() throws Exception {
    var context = testServer.context("c");
    try (var reader = testServer.stream("/api/contexts/c/stream?after=99")) {
      assertThat(reader.next().id()).isEqualTo("1");
      var gap = reader.next();
      assertThat(gap.event()).isEqualTo("stream-gap");
      assertThat(gap.json().path("reason").asString()).isEqualTo("ahead-of-head");
      assertThat(gap.json().path("requested").asString()).isEqualTo("99");
      assertThat(gap.json().path("position").asString()).isEqualTo("1");

      testServer.append(context, state(1));

      assertThat(reader.nextEvent().id()).isEqualTo("2");
    }
  }

  @Test
  void a_stream_of_a_context_that_is_deleted_says_so_and_ends() throws Exception {
    var context = testServer.context("c");
    try (var reader = testServer.stream("/api/contexts/c/stream")) {
      reader.nextEvent();

      testServer.log.delete(context);

      EventReader.Frame last = null;
      for (var frame = reader.next(); frame != null; frame = reader.next()) {
        last = frame;
      }
      assertThat(last.event()).isEqualTo("stream-gap");
      assertThat(last.json().path("reason").asString()).isEqualTo("deleted");
    }
    assertThat(testServer.get("/api/contexts/c/stream").statusCode()).isEqualTo(410);
  }

  @Test
  void streams_end_in_order_when_the_server_stops() throws Exception {
    testServer.context("c");
    try (var reader = testServer.stream("/api/contexts/c/stream")) {
      reader.nextEvent();

      testServer.server.close();

      var frame = reader.next();
      while (frame != null) {
        frame = reader.next();
      }
      assertThat(frame).isNull();
    }
  }

  @Test
  void there_is_a_limit_to_streams_and_a_closed_one_makes_room() throws Exception {
    var few = new HttpLimits(1 << 20, 2, Duration.ofSeconds(30), Duration.ofSeconds(30));
    var wish = TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(20)).limits(few);
    try (var small = TestServer.open(folder.resolve("small"), wish)) {
      small.context("c");
      try (var one = small.stream("/api/contexts/c/stream");
          var two = small.stream("/api/contexts/c/stream")) {
        one.nextEvent();
        two.nextEvent();
        var refused = small.get("/api/contexts/c/stream");
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.headers().firstValue("Retry-After")).isPresent();
        assertThat(refused.body()).contains("too-many-streams");
      }
      small.awaitStreams(0);
      try (var third = small.stream("/api/contexts/c/stream")) {
        assertThat(third.nextEvent().id()).isEqualTo("1");
      }
    }
  }

  @Test
  void a_silent_stream_outlives_the_stall_limit_when_heartbeats_are_off() throws Exception {
    var quick = new HttpLimits(1 << 20, 10, Duration.ofSeconds(2), Duration.ofSeconds(1));
    var wish = TestServer.Wish.USUAL.heartbeat(Duration.ZERO).limits(quick);
    try (var silent = TestServer.open(folder.resolve("silent"), wish)) {
      var context = silent.context("c");
      try (var reader = silent.stream("/api/contexts/c/stream");
          var idle = silent.connect()) {
        reader.nextEvent();
        // The listener closes an idle connection after the limit: by then the stream was as silent.
        assertThat(idle.getInputStream().readAllBytes()).isEmpty();

        silent.append(context, state(1));

        assertThat(reader.nextEvent().id()).isEqualTo("2");
      }
    }
  }

  @Test
  void events_are_paged_and_the_position_moves_even_when_nothing_matches() throws Exception {
    write(testServer.context("c"), 500);
    var head = testServer.log.head(new ContextId("c"));

    var all = Json.mapper().readTree(testServer.get("/api/contexts/c/events?limit=100").body());
    assertThat(all.path("events").size()).isEqualTo(100);
    assertThat(all.path("hasMore").asBoolean()).isTrue();

    var none =
        Json.mapper().readTree(testServer.get("/api/contexts/c/events?kinds=file-write").body());
    assertThat(none.path("events").size()).isZero();
    assertThat(none.path("position").asString()).isEqualTo(head.toString());
    assertThat(none.path("hasMore").asBoolean()).isFalse();

    var ahead = testServer.get("/api/contexts/c/events?after=100000");
    assertThat(ahead.statusCode()).isEqualTo(400);
    assertThat(ahead.body()).contains("cursor-ahead");
  }

  private Void write(ContextId context, int count) {
    testServer.append(context, TASK, created());
    testServer.append(context, OTHER, created());
    testServer.append(context, TASK, new TaskStatus(TaskState.WORKING, null, null));
    for (var i = 0; i < count; i++) {
      testServer.append(context, i % 3 == 0 ? OTHER : TASK, delta(i, "b" + i % 3));
      if (i % 10 == 0) {
        testServer.append(context, TASK, new InternalCheckpoint(i, null));
      }
    }
    return null;
  }

  private List<Entry> entries(ContextId context) {
    return testServer.log.read(context, Position.START, Integer.MAX_VALUE);
  }

  private static Event state(int number) {
    return new StateUpdated(Json.object().put("n", number));
  }

  private static Event created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }

  private static Event delta(int index, String block) {
    assertThat(Kind.CONTENT_DELTA.internal()).isFalse();
    return new ContentDelta(index + " ", index, new BlockId(block));
  }
}
