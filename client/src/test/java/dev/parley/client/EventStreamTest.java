package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EventStreamTest {

  private static final Reconnect QUICK =
      new Reconnect(Duration.ofMillis(1), Duration.ofMillis(5), 3, Duration.ofSeconds(20));

  /// EVENT-75, EVENT-76, CHAT-43.
  @Test
  void a_reader_cut_at_200_random_points_has_exactly_the_log() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(3000);
    var random = new Random(42);
    var cuts = new AtomicInteger();
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  var after = Long.parseLong(fakeRequest.header("Last-Event-ID"));
                  var stream = fakeReply.stream(random.nextBoolean());
                  var cut = cuts.getAndIncrement() < 200;
                  // A cut stream has at most 5000 bytes, and a frame has more than 100.
                  var last = cut ? Math.min(3000, after + 50) : 3000;
                  var bytes =
                      (ContextLogFixture.open("" + after, 15_000)
                              + contextLogFixture.frames(after + 1, last))
                          .getBytes(StandardCharsets.UTF_8);
                  if (cut) {
                    stream.send(bytes, Math.min(bytes.length, random.nextInt(5000)));
                  } else {
                    stream.send(bytes, bytes.length).hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 3000)).isEqualTo(contextLogFixture.entries());
      assertThat(stream.reconnects()).isBetween(100L, 200L);
    }
  }

  @Test
  void what_comes_twice_or_late_is_dropped() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(10);
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) ->
                    fakeReply.stream(true)
                        .send(
                            contextLogFixture.frames(1, 6)
                                + contextLogFixture.frames(3, 5)
                                + contextLogFixture.frames(6, 10))
                        .hold());
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 10)).isEqualTo(contextLogFixture.entries());
      assertThat(stream.duplicates()).isEqualTo(4);
    }
  }

  @Test
  void what_a_stream_leaves_out_is_fetched() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(1500);
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  if (fakeRequest.path().endsWith("/events")) {
                    fakeReply.json(
                        200, contextLogFixture.page(number(fakeRequest.query(), "after"), 500));
                  } else {
                    fakeReply.stream(true)
                        .send(contextLogFixture.frames(1, 3) + contextLogFixture.frames(1400, 1500))
                        .hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 1500)).isEqualTo(contextLogFixture.entries());
    }
  }

  @Test
  void a_heartbeat_that_is_ahead_of_the_events_shows_a_gap_too() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(5);
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  if (fakeRequest.path().endsWith("/events")) {
                    fakeReply.json(
                        200, contextLogFixture.page(number(fakeRequest.query(), "after"), 500));
                  } else {
                    fakeReply.stream(true)
                        .send(contextLogFixture.frames(1, 3) + ": beat\nid: 5\n\n")
                        .hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 5)).isEqualTo(contextLogFixture.entries());
    }
  }

  @Test
  void events_that_the_server_has_lost_are_not_passed_over_in_silence() {
    var contextLogFixture = ContextLogFixture.ofDeltas(10);
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  if (fakeRequest.path().endsWith("/events")) {
                    fakeReply.json(200, "{\"events\":[],\"position\":\"10\",\"hasMore\":false}");
                  } else {
                    fakeReply.stream(true)
                        .send(contextLogFixture.frames(1, 1) + contextLogFixture.frames(9, 10))
                        .hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThatThrownBy(() -> take(stream, 10))
          .isInstanceOfSatisfying(
              StreamGap.class, gap -> assertThat(gap.reason()).isEqualTo("missing"));
    }
  }

  @Test
  void a_filtered_reader_goes_on_after_the_last_heartbeat() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(90);
    var resumed = new ArrayList<String>();
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  resumed.add(fakeRequest.header("Last-Event-ID"));
                  fakeReply.stream(true);
                  if (resumed.size() == 1) {
                    fakeReply.send(
                        ContextLogFixture.frame(contextLogFixture.entries().get(6))
                            + ": beat\nid: 80\n\n");
                  } else {
                    fakeReply
                        .send(ContextLogFixture.frame(contextLogFixture.entries().get(87)))
                        .hold();
                  }
                });
        var client = client(server);
        var stream =
            client.stream(
                ContextLogFixture.CONTEXT,
                Position.START,
                StreamFilter.ALL
                    .onlyKinds(Set.of(Kind.CONTENT_DELTA))
                    .onlyTask(ContextLogFixture.TASK))) {

      assertThat(take(stream, 2)).extracting(e -> e.position().seq()).containsExactly(7L, 88L);
      assertThat(resumed).containsExactly("0", "80");
      assertThat(server.requests().getFirst().query()).isEqualTo("kinds=content-delta&taskId=t-1");
    }
  }

  @Test
  void a_connection_that_falls_silent_is_replaced() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(4);
    var calls = new AtomicInteger();
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> {
                  fakeReply.stream(true);
                  if (calls.getAndIncrement() == 0) {
                    fakeReply
                        .send(ContextLogFixture.open("0", 1_000) + contextLogFixture.frames(1, 2))
                        .hold();
                  } else {
                    fakeReply
                        .send(ContextLogFixture.open("2", 10_000) + contextLogFixture.frames(3, 4))
                        .hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 4)).isEqualTo(contextLogFixture.entries());
      assertThat(stream.reconnects()).isEqualTo(1);
    }
  }

  @Test
  void kinds_from_the_future_are_passed_over_and_counted() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(3);
    var future =
        "id: 2\nevent: warp\ndata: {\"kind\":\"warp\",\"seq\":2,\"contextId\":\"c-1\"}\n\n";
    var seen = new ArrayList<String>();
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) ->
                    fakeReply.stream(true)
                        .send(
                            contextLogFixture.frames(1, 1)
                                + "event: stream-weather\ndata: {\"kind\":\"stream-weather\"}\n\n"
                                + future
                                + contextLogFixture.frames(3, 3))
                        .hold());
        var client = client(server);
        var stream =
            client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)
                .onUnknown(event -> seen.add(event.path("kind").asString()))) {

      assertThat(take(stream, 2)).extracting(e -> e.position().seq()).containsExactly(1L, 3L);
      assertThat(stream.unknown()).isEqualTo(1);
      assertThat(seen).containsExactly("warp");
    }
  }

  @Test
  void a_garbled_frame_is_asked_for_again() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(4);
    var calls = new AtomicInteger();
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  var after = Long.parseLong(fakeRequest.header("Last-Event-ID"));
                  fakeReply.stream(true);
                  if (calls.getAndIncrement() == 0) {
                    fakeReply
                        .send(contextLogFixture.frames(1, 2) + "id: 3\ndata: {\"kind\":\n\n")
                        .hold();
                  } else {
                    fakeReply.send(contextLogFixture.frames(after + 1, 4)).hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 4)).isEqualTo(contextLogFixture.entries());
    }
  }

  @Test
  void a_stream_of_nothing_but_garbage_is_given_up() {
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> fakeReply.stream(true).send("data: <html>\n\n").hold());
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThatThrownBy(stream::next).isInstanceOf(BadAnswer.class);
      assertThat(server.requests()).hasSize(3);
      assertThat(stream.closed()).isTrue();
    }
  }

  @Test
  void a_cursor_that_cannot_be_served_is_told_as_what_it_is() {
    var gap =
        "event: stream-gap\ndata: {\"kind\":\"stream-gap\",\"reason\":\"ahead-of-head\","
            + "\"requested\":\"99\",\"position\":\"7\"}\n\n";
    try (var server =
            new FakeHttpServer((_, fakeReply) -> fakeReply.stream(true).send(gap).hold());
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.of(99), StreamFilter.ALL)) {

      assertThatThrownBy(stream::next)
          .isInstanceOfSatisfying(
              StreamGap.class,
              e -> {
                assertThat(e.reason()).isEqualTo("ahead-of-head");
                assertThat(e.requested()).isEqualTo(Position.of(99));
                assertThat(e.position()).isEqualTo(Position.of(7));
              });
    }
  }

  @Test
  void a_deleted_context_ends_the_stream_with_the_servers_own_rejection() {
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) ->
                    fakeReply.json(
                        410, "{\"status\":410,\"code\":\"gone\",\"detail\":\"deleted\"}"));
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThatThrownBy(stream::next).isInstanceOf(Rejection.Gone.class).hasMessage("deleted");
    }
  }

  @Test
  void a_server_that_is_busy_is_asked_again() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(1);
    var calls = new AtomicInteger();
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> {
                  if (calls.getAndIncrement() < 2) {
                    fakeReply.json(503, "{\"code\":\"unavailable\"}", "Retry-After: 0");
                  } else {
                    fakeReply.stream(false).send(contextLogFixture.frames(1, 1)).hold();
                  }
                });
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(take(stream, 1)).isEqualTo(contextLogFixture.entries());
    }
  }

  @Test
  void a_server_that_stays_away_is_given_up_after_a_while() throws Exception {
    var contextLogFixture = ContextLogFixture.ofDeltas(1);
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> fakeReply.stream(true).send(contextLogFixture.frames(1, 1)));
        var client =
            new ParleyClient(
                ClientSettings.of(server.url())
                    .withReconnect(QUICK.withPatience(Duration.ofMillis(50))));
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {
      assertThat(take(stream, 1)).hasSize(1);
      server.stop();

      assertThatThrownBy(stream::next).isInstanceOf(Unreachable.class);
    }
  }

  @Test
  void a_reader_with_little_patience_gets_nothing_rather_than_waiting() throws Exception {
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) ->
                    fakeReply.stream(true).send(ContextLogFixture.open("0", 0)).hold());
        var client = client(server);
        var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL)) {

      assertThat(stream.next(Duration.ZERO)).isEmpty();
      assertThat(stream.next(Duration.ofMillis(20))).isEmpty();
      assertThat(stream.closed()).isFalse();
    }
  }

  @Test
  void closing_wakes_the_reader() throws Exception {
    var connected = new CountDownLatch(1);
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> {
                  fakeReply.stream(true).send(ContextLogFixture.open("0", 60_000));
                  connected.countDown();
                  fakeReply.hold();
                });
        var client = client(server)) {
      var stream = client.stream(ContextLogFixture.CONTEXT, Position.START, StreamFilter.ALL);
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  connected.await();
                } catch (InterruptedException impossible) {
                  throw new IllegalStateException(impossible);
                }
                stream.close();
              });

      assertThat(stream.next()).isEmpty();
    }
  }

  private static ParleyClient client(FakeHttpServer server) {
    return new ParleyClient(ClientSettings.of(server.url()).withReconnect(QUICK));
  }

  private static List<Entry> take(EventStream stream, int count) throws InterruptedException {
    var entries = new ArrayList<Entry>();
    while (entries.size() < count) {
      entries.add(stream.next().orElseThrow());
    }
    return entries;
  }

  static long number(String query, String name) {
    for (var pair : query.split("&", -1)) {
      if (pair.startsWith(name + "=")) {
        return Long.parseLong(pair.substring(name.length() + 1));
      }
    }
    throw new IllegalArgumentException(name + " is not in " + query);
  }
}
