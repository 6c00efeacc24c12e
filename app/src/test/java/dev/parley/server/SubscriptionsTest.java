package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpLimits;
import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Many contexts on one WebSocket.
class SubscriptionsTest {

  private static final Origin TASK = Origin.root(new TaskId("t1"), new AgentTypeId("a"));
  private static final String EVENT = ",\"event\":";

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder, TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void a_context_is_followed_from_its_log_into_what_happens() throws Exception {
    var context = testServer.context("c");
    try (var socket = socket()) {
      socket.send("{\"type\":\"subscribe\",\"contextId\":\"c\",\"id\":\"s1\"}");
      assertThat(socket.next())
          .isEqualTo(
              "{\"type\":\"subscribed\",\"id\":\"s1\",\"contextId\":\"c\",\"position\":0,"
                  + "\"heartbeatMs\":15000,\"head\":1}");
      assertThat(socket.json().at("/event/kind").asString()).isEqualTo("context-created");
      testServer.append(context, state(1));
      var event = socket.json();
      assertThat(event.path("type").asString()).isEqualTo("event");
      assertThat(event.path("contextId").asString()).isEqualTo("c");
      assertThat(event.path("position").asInt()).isEqualTo(2);
      assertThat(event.at("/event/seq").asInt()).isEqualTo(2);
    }
  }

  @Test
  void a_hundred_contexts_on_one_socket_all_come_whole_in_order_and_apart() throws Exception {
    var contexts = new ArrayList<ContextId>();
    try (var socket = socket();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var i = 0; i < 100; i++) {
        contexts.add(testServer.context("c" + i));
        socket.send("{\"type\":\"subscribe\",\"contextId\":\"c" + i + "\"}");
      }
      for (var context : contexts) {
        var _ = threads.submit(() -> write(context, 60));
      }
      var seen = new HashMap<String, List<String>>();
      for (var events = 0; events < 100 * 61; ) {
        var text = socket.next();
        var message = Json.mapper().readTree(text);
        if (message.path("type").asString().equals("event")) {
          assertThat(message.at("/event/contextId")).isEqualTo(message.path("contextId"));
          seen.computeIfAbsent(message.path("contextId").asString(), _ -> new ArrayList<>())
              .add(event(text));
          events++;
        }
      }
      for (var context : contexts) {
        assertThat(seen.get(context.value())).isEqualTo(streamed(context, "", 61));
      }
    }
  }

  @Test
  void it_goes_on_after_every_event_with_the_very_bytes_that_streams_have() throws Exception {
    var context = testServer.context("c");
    write(context, 20);
    testServer.append(context, TASK, created());
    testServer.append(context, TASK, new InternalCheckpoint(1, null));
    write(context, 3);
    var all = streamed(context, "internal=true", 26);
    try (var socket = socket()) {
      for (var from = 0; from < all.size(); from++) {
        var after =
            from == 0
                ? "0"
                : Json.mapper().readTree(all.get(from - 1)).path("seq").asString()
                    + (all.get(from - 1).contains("\"k\":1") ? ".1" : "");
        socket.send(
            "{\"type\":\"subscribe\",\"contextId\":\"c\",\"internal\":true,\"after\":\"%s\"}"
                .formatted(after));
        assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
        for (var expected : all.subList(from, all.size())) {
          assertThat(event(socket.next())).isEqualTo(expected);
        }
        socket.send("{\"type\":\"unsubscribe\",\"contextId\":\"c\",\"id\":7}");
        var end = socket.json();
        assertThat(end.path("type").asString()).isEqualTo("unsubscribed");
        assertThat(end.path("id").asInt()).isEqualTo(7);
      }
    }
  }

  @Test
  void filters_are_those_of_streams() throws Exception {
    var context = testServer.context("c");
    write(context, 10);
    testServer.append(context, TASK, created());
    testServer.append(context, TASK, new ContentDelta("x", 0, new BlockId("b")));
    write(context, 1);
    try (var socket = socket()) {
      subscribe(
          socket, "\"kinds\":[\"task-created\",\"content-delta\"],\"exclude\":\"task-created\"");
      assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
      assertThat(event(socket.next()))
          .isEqualTo(streamed(context, "kinds=content-delta", 1).getFirst());
    }
  }

  @Test
  void heartbeats_move_the_cursor_of_a_reader_whose_filter_lets_nothing_pass() throws Exception {
    testServer.close();
    testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(50)));
    var context = testServer.context("c");
    write(context, 4);
    try (var socket = socket()) {
      subscribe(socket, "\"kinds\":\"task-created\"");
      socket.next();
      assertThat(socket.next())
          .isEqualTo("{\"type\":\"heartbeat\",\"contextId\":\"c\",\"position\":5}");
    }
  }

  @Test
  void who_is_ahead_of_the_log_is_told_and_goes_on_at_its_end() throws Exception {
    var context = testServer.context("c");
    try (var socket = socket()) {
      subscribe(socket, "\"after\":99");
      assertThat(socket.json().path("position").asInt()).isEqualTo(1);
      assertThat(socket.next())
          .isEqualTo(
              "{\"type\":\"gap\",\"contextId\":\"c\",\"position\":1,\"reason\":\"ahead-of-head\","
                  + "\"requested\":\"99\"}");
      testServer.append(context, state(1));
      assertThat(socket.json().path("position").asInt()).isEqualTo(2);
    }
  }

  @Test
  void a_context_that_is_deleted_ends_and_the_others_go_on() throws Exception {
    testServer.context("c");
    var other = testServer.context("other");
    try (var socket = socket()) {
      subscribe(socket, "\"after\":1");
      socket.next();
      assertThat(testServer.send(testServer.request("/api/contexts/c").DELETE()).statusCode())
          .isEqualTo(204);
      var gap = socket.json();
      while (gap.path("type").asString().equals("event")) {
        gap = socket.json();
      }
      assertThat(gap.path("type").asString()).isEqualTo("gap");
      assertThat(gap.path("reason").asString()).isEqualTo("deleted");
      assertThat(socket.json().path("type").asString()).isEqualTo("unsubscribed");
      subscribe(socket, "");
      assertError(socket.json(), "gone", 410);
      socket.send("{\"type\":\"subscribe\",\"contextId\":\"other\",\"after\":1}");
      socket.next();
      testServer.append(other, state(1));
      assertThat(socket.json().path("contextId").asString()).isEqualTo("other");
    }
  }

  @Test
  void a_window_holds_back_what_was_not_asked_for() throws Exception {
    var context = testServer.context("c");
    write(context, 20);
    try (var socket = socket()) {
      subscribe(socket, "\"window\":3");
      assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
      assertThat(positions(socket, 3)).containsExactly(1, 2, 3);
      socket.send("{\"type\":\"ping\",\"id\":\"p\"}");
      assertThat(socket.next()).isEqualTo("{\"type\":\"pong\",\"id\":\"p\"}");
      socket.send("{\"type\":\"ack\",\"contextId\":\"c\",\"position\":2}");
      assertThat(positions(socket, 2)).containsExactly(4, 5);
      socket.send("{\"type\":\"ack\",\"contextId\":\"c\",\"position\":5}");
      assertThat(positions(socket, 3)).containsExactly(6, 7, 8);
      socket.send("{\"type\":\"ping\"}");
      assertThat(socket.next()).isEqualTo("{\"type\":\"pong\"}");
    }
  }

  @Test
  void nonsense_is_answered_by_errors_and_the_socket_stays() throws Exception {
    testServer.context("c");
    try (var socket = socket()) {
      var cases = new HashMap<String, String>();
      cases.put("{", "invalid-json");
      cases.put("[]", "invalid");
      cases.put("{\"type\":\"shout\"}", "invalid");
      cases.put("{\"type\":\"ping\",\"id\":{}}", "invalid");
      cases.put("{\"type\":\"subscribe\"}", "invalid");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"no such\"}", "invalid-id");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"nobody\"}", "not-found");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"c\",\"kindz\":1}", "unknown-parameter");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"c\",\"kinds\":\"x\"}", "invalid");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"c\",\"kinds\":{}}", "invalid");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"c\",\"after\":-1}", "invalid-cursor");
      cases.put("{\"type\":\"subscribe\",\"contextId\":\"c\",\"window\":0}", "invalid");
      cases.put(
          "{\"type\":\"subscribe\",\"contextId\":\"c\",\"taskId\":\"\\ud800\"}", "invalid-utf8");
      cases.put("{\"type\":\"unsubscribe\",\"contextId\":\"c\"}", "not-subscribed");
      cases.put("{\"type\":\"ack\",\"contextId\":\"c\",\"position\":1}", "not-subscribed");
      for (var said : cases.entrySet()) {
        socket.send(said.getKey());
        var error = socket.json();
        assertThat(error.path("type").asString()).as(said.getKey()).isEqualTo("error");
        assertThat(error.path("code").asString()).as(said.getKey()).isEqualTo(said.getValue());
      }
      subscribe(socket, "");
      socket.next();
      socket.next();
      subscribe(socket, "\"id\":1");
      var twice = socket.json();
      assertError(twice, "already-subscribed", 409);
      assertThat(twice.path("id").asInt()).isEqualTo(1);
    }
  }

  @Test
  void nobody_follows_the_context_of_another() throws Exception {
    testServer.close();
    testServer =
        TestServer.open(
            folder, TestServer.Wish.USUAL.tokens(InboxTest.token("ann"), InboxTest.token("bob")));
    testServer.send(
        testServer
            .request(
                "/api/contexts",
                "Authorization",
                "Bearer secret-ann",
                "Content-Type",
                "application/json")
            .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{\"contextId\":\"hers\"}")));
    try (var bob = socket(Map.of("Authorization", "Bearer secret-bob"), true);
        var ann = socket(Map.of("Authorization", "Bearer secret-ann"), true)) {
      bob.send("{\"type\":\"subscribe\",\"contextId\":\"hers\"}");
      assertError(bob.json(), "not-found", 404);
      ann.send("{\"type\":\"subscribe\",\"contextId\":\"hers\"}");
      assertThat(ann.json().path("type").asString()).isEqualTo("subscribed");
    }
  }

  @Test
  void every_subscription_takes_the_place_of_a_stream() throws Exception {
    testServer.close();
    testServer =
        TestServer.open(
            folder,
            TestServer.Wish.USUAL.limits(
                new HttpLimits(1 << 20, 2, Duration.ofSeconds(60), Duration.ofSeconds(60))));
    testServer.context("c");
    testServer.context("d");
    try (var socket = socket()) {
      subscribe(socket, "\"after\":1");
      assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
      socket.send("{\"type\":\"subscribe\",\"contextId\":\"d\",\"after\":1}");
      assertError(socket.json(), "too-many-streams", 429);
      socket.send("{\"type\":\"unsubscribe\",\"contextId\":\"c\"}");
      socket.next();
      socket.send("{\"type\":\"subscribe\",\"contextId\":\"d\",\"after\":1}");
      assertThat(socket.json().path("type").asString()).isEqualTo("subscribed");
    }
  }

  @Test
  void a_socket_that_is_not_read_slows_nobody_and_misses_nothing() throws Exception {
    var context = testServer.context("c");
    var large = "x".repeat(100_000);
    try (var slow = socket(Map.of(), false);
        var quick = socket()) {
      for (var socket : List.of(slow, quick)) {
        subscribe(socket, "\"after\":1");
      }
      quick.next();
      for (var i = 0; i < 300; i++) {
        testServer.append(context, new StateUpdated(Json.object().put("n", i).put("large", large)));
      }
      assertThat(positions(quick, 300)).endsWith(301);
      slow.read();
      slow.next();
      assertThat(positions(slow, 300)).startsWith(2).endsWith(301).isSorted();
    }
  }

  @Test
  void a_server_that_stops_ends_sockets_in_order() throws Exception {
    testServer.context("c");
    try (var socket = socket()) {
      subscribe(socket, "");
      socket.next();
      socket.next();
      testServer.server.close();
      assertThat(socket.closed()).isEqualTo("1001 the server is stopping");
    }
  }

  private WebSocketTestClient socket() {
    return socket(Map.of(), true);
  }

  private WebSocketTestClient socket(Map<String, String> headers, boolean reading) {
    return new WebSocketTestClient(testServer.url.getPort(), "/api/ws", headers, reading);
  }

  private static void subscribe(WebSocketTestClient socket, String more) {
    socket.send(
        "{\"type\":\"subscribe\",\"contextId\":\"c\"" + (more.isEmpty() ? "" : "," + more) + "}");
  }

  private static List<Integer> positions(WebSocketTestClient socket, int count) throws Exception {
    var positions = new ArrayList<Integer>();
    for (var i = 0; i < count; i++) {
      positions.add(socket.json().at("/event/seq").asInt());
    }
    return positions;
  }

  private static void assertError(JsonNode error, String code, int status) {
    assertThat(error.path("type").asString()).isEqualTo("error");
    assertThat(error.path("code").asString()).isEqualTo(code);
    assertThat(error.path("status").asInt()).isEqualTo(status);
  }

  private static String event(String message) {
    return message.substring(message.indexOf(EVENT) + EVENT.length(), message.length() - 1);
  }

  /// What a stream of the context says, event by event.
  private List<String> streamed(ContextId context, String query, int count) throws Exception {
    try (var reader = testServer.stream("/api/contexts/" + context + "/stream?" + query)) {
      var seen = new ArrayList<String>();
      while (seen.size() < count) {
        seen.add(reader.nextEvent().data());
      }
      return seen;
    }
  }

  private void write(ContextId context, int count) {
    for (var i = 0; i < count; i++) {
      testServer.append(context, state(i));
    }
  }

  private static Event state(int number) {
    return new StateUpdated(Json.object().put("n", number).put("text", "ä \"€\" \n 😀"));
  }

  private static Event created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }
}
