package dev.parley.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpLimits;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams that wait without a thread, and what follows them on their connections.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LiveStreamsTest {

  private static final String STREAM = "GET /api/contexts/c/stream HTTP/1.1\r\nHost: localhost\r\n";
  private static final String HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  private static final TestServer.Wish QUIET = TestServer.Wish.USUAL.heartbeat(Duration.ZERO);

  @TempDir Path folder;
  private TestServer testServer;

  @AfterEach
  void close() {
    testServer.close();
  }

  private void open(TestServer.Wish wish) {
    testServer = TestServer.open(folder, wish);
    testServer.context("c");
  }

  @Test
  void two_thousand_idle_streams_hold_no_thread_and_all_get_the_next_event() throws Exception {
    var threads = new CountedThreads();
    testServer = TestServer.durable(folder, "", new SystemTime(threads), threads);
    var context = testServer.context("c");
    var readers = new ArrayList<EventReader>();
    for (var i = 0; i < 2_000; i++) {
      readers.add(testServer.stream("/api/contexts/c/stream"));
    }
    awaitLive(2_000);
    threads.awaitEndOf(List.of("request-", "live-stream"));

    testServer.append(context, updated("later"));

    for (var reader : readers) {
      assertThat(reader.nextEvent().id()).isEqualTo("1");
      assertThat(reader.nextEvent().id()).isEqualTo("2");
      reader.close();
    }
    testServer.awaitStreams(0);
    awaitLive(0);
  }

  @Test
  void a_connection_serves_the_next_request_after_its_stream_has_ended() throws Exception {
    open(QUIET);
    try (var client = new RawClient(STREAM + "\r\n")) {
      client.awaitLine("event: context-created");
      awaitLive(1);
      testServer.log.delete(new ContextId("c"));
      client.awaitLine("0");
      client.awaitLine("");
      testServer.awaitStreams(0);

      client.send(HEALTH);
      client.awaitLine("HTTP/1.1 200 OK");
    }
  }

  @Test
  void a_connection_can_have_many_streams_one_after_the_other() throws Exception {
    open(QUIET);
    try (var client = new RawClient("")) {
      for (var i = 0; i < 50; i++) {
        testServer.context("c" + i);
        client.send(STREAM.replace("/c/", "/c" + i + "/") + "\r\n");
        client.awaitLine("event: context-created");
        awaitLive(1);
        testServer.log.delete(new ContextId("c" + i));
        client.awaitLine("0");
        client.awaitLine("");
      }
    }
    awaitLive(0);
  }

  @Test
  void a_request_that_arrives_during_a_stream_is_answered_after_it() throws Exception {
    open(QUIET);
    try (var client = new RawClient(STREAM + "\r\n")) {
      client.awaitLine("event: context-created");
      awaitLive(1);
      client.send(HEALTH);
      testServer.append(new ContextId("c"), updated("later"));
      client.awaitLine("event: context-updated");
      testServer.log.delete(new ContextId("c"));
      client.awaitLine("0");
      client.awaitLine("HTTP/1.1 200 OK");
    }
  }

  @Test
  void a_request_that_arrives_together_with_that_of_the_stream_is_answered_after_it()
      throws Exception {
    open(QUIET);
    try (var client = new RawClient(STREAM + "\r\n" + HEALTH)) {
      client.awaitLine("event: context-created");
      testServer.append(new ContextId("c"), updated("later"));
      client.awaitLine("event: context-updated");
      testServer.log.delete(new ContextId("c"));
      client.awaitLine("0");
      client.awaitLine("HTTP/1.1 200 OK");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.0\r\n", "HTTP/1.1\r\nConnection: close\r\n"})
  void a_connection_that_serves_one_request_is_closed_after_the_stream(String version)
      throws Exception {
    open(QUIET);
    var request = STREAM.replace("HTTP/1.1\r\n", version) + "\r\n";
    try (var client = new RawClient(request)) {
      client.awaitLine("event: context-created");
      testServer.append(new ContextId("c"), updated("later"));
      client.awaitLine("event: context-updated");
      // It has no chunks, so that its thread writes it.
      assertThat(live()).isZero();
      testServer.log.delete(new ContextId("c"));
      client.awaitLine("event: stream-gap");
      client.awaitEnd();
    }
  }

  @Test
  void the_head_of_a_stream_can_be_had_alone() throws Exception {
    open(QUIET);
    try (var client = new RawClient(STREAM.replace("GET", "HEAD") + "\r\n")) {
      client.awaitLine("Content-Type: text/event-stream");
      client.awaitLine("");
      client.send(HEALTH);
      client.awaitLine("HTTP/1.1 200 OK");
      assertThat(live()).isZero();
    }
  }

  @Test
  void a_request_with_a_body_is_streamed_too() throws Exception {
    open(QUIET);
    try (var client = new RawClient(STREAM + "Content-Length: 2\r\n\r\n{}")) {
      client.awaitLine("event: context-created");
      testServer.append(new ContextId("c"), updated("later"));
      client.awaitLine("event: context-updated");
      testServer.log.delete(new ContextId("c"));
      client.awaitLine("0");
      client.send(HEALTH);
      client.awaitLine("HTTP/1.1 200 OK");
    }
  }

  @Test
  void streams_that_wait_end_completely_when_the_server_stops() throws Exception {
    open(QUIET);
    var clients = new ArrayList<RawClient>();
    for (var i = 0; i < 100; i++) {
      clients.add(new RawClient(STREAM + "\r\n"));
    }
    awaitLive(100);

    testServer.close();

    for (var client : clients) {
      client.awaitLine("0");
      client.awaitEnd();
      client.close();
    }
    assertThat(live()).isZero();
  }

  @Test
  void a_stream_ends_when_its_reader_disconnects_while_a_write_waits() throws Exception {
    open(QUIET);
    var context = new ContextId("c");
    try (var client = new RawClient(STREAM + "\r\n")) {
      client.awaitLine("event: context-created");
      awaitLive(1);
      for (var i = 0; i < 100; i++) {
        testServer.append(context, large(i));
      }
    }
    testServer.awaitStreams(0);
    awaitLive(0);
  }

  @Test
  void a_reader_that_stops_reading_ends_and_others_stay() throws Exception {
    open(QUIET.limits(new HttpLimits(1 << 20, 10, Duration.ofSeconds(2), Duration.ofSeconds(1))));
    var context = new ContextId("c");
    try (var stuck = new RawClient(STREAM + "\r\n");
        var reader = testServer.stream("/api/contexts/c/stream")) {
      stuck.awaitLine("event: context-created");
      reader.nextEvent();
      awaitLive(2);
      for (var i = 0; i < 200; i++) {
        testServer.append(context, large(i));
        assertThat(reader.nextEvent().id()).isEqualTo(Integer.toString(i + 2));
      }
      testServer.awaitStreams(1);

      testServer.append(context, updated("later"));
      assertThat(reader.nextEvent().id()).isEqualTo("202");
    }
  }

  @Test
  void a_stream_of_all_contexts_waits_without_a_thread_too() throws Exception {
    testServer = TestServer.durable(folder, QUIET);
    try (var client =
        new RawClient(STREAM.replace("/api/contexts/c/stream", "/chat/stream") + "\r\n")) {
      client.awaitLine("HTTP/1.1 200 OK");
      awaitLive(1);
      var asked = testServer.post("/chat/messages", "{\"content\":\"hello\"}");
      assertThat(asked.statusCode()).isLessThan(300);
      client.awaitLineContaining("hello");
    }
    testServer.awaitStreams(0);
  }

  /// Readers start at any position, with any filter, at any time; slow ones fall behind the memory.
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void readers_that_join_during_appends_have_their_part_of_the_log_in_order(long seed)
      throws Exception {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
    var context = testServer.context("c");
    var random = new Random(seed);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var readers = new ArrayList<Future<?>>();
      for (var i = 0; i < 300; i++) {
        for (var n = random.nextInt(4); n > 0; n--) {
          testServer.append(
              context, random.nextBoolean() ? updated("t" + i) : large(random.nextInt(100)));
        }
        if (i < 100) {
          var after = random.nextInt((int) testServer.log.head(context).seq() + 1);
          var filtered = random.nextBoolean();
          readers.add(threads.submit(() -> readAll(context, after, filtered)));
        }
      }
      testServer.append(context, updated("last"));
      for (var reader : readers) {
        reader.get();
      }
    }
  }

  private Void readAll(ContextId context, int after, boolean filtered) throws IOException {
    var query = "?after=" + after + (filtered ? "&kinds=context-updated" : "");
    var seen = new ArrayList<String>();
    try (var reader = testServer.stream("/api/contexts/c/stream" + query)) {
      do {
        seen.add(reader.nextEvent().data());
      } while (!seen.getLast().contains("\"last\""));
    }
    assertThat(seen)
        .isEqualTo(
            testServer.log.read(context, new Position(after, 0), Integer.MAX_VALUE).stream()
                .filter(entry -> !filtered || entry.event() instanceof ContextUpdated)
                .map(EventJson::text)
                .toList());
    return null;
  }

  private static Event updated(String title) {
    return new ContextUpdated(title, null);
  }

  private static Event large(int n) {
    return new StateUpdated(Json.object().put("n", n).put("large", "x".repeat(250 * n)));
  }

  private int live() {
    return testServer.api.streamDependencies().live().count();
  }

  private void awaitLive(int count) {
    awaitTrue(() -> live() == count);
  }

  private static void awaitTrue(BooleanSupplier happened) {
    while (!happened.getAsBoolean()) {
      assertThat(Thread.currentThread().isInterrupted()).as("the time is up").isFalse();
      Thread.onSpinWait();
    }
  }

  /// A client that sends bytes as they are and reads lines.
  private final class RawClient implements AutoCloseable {
    private final Socket socket = testServer.connect();
    private final BufferedReader lines =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));

    RawClient(String request) throws IOException {
      send(request);
    }

    void send(String bytes) throws IOException {
      socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
    }

    void awaitLine(String wanted) throws IOException {
      for (var line = lines.readLine(); !wanted.equals(line); line = lines.readLine()) {
        assertThat(line).as("before " + wanted).isNotNull();
      }
    }

    void awaitLineContaining(String wanted) throws IOException {
      var line = lines.readLine();
      while (!line.contains(wanted)) {
        line = lines.readLine();
      }
    }

    void awaitEnd() throws IOException {
      var line = lines.readLine();
      while (line != null) {
        line = lines.readLine();
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /// Threads of the machine; knows which virtual threads are alive.
  private static final class CountedThreads implements Threads {
    private final Threads threads = new SystemThreads();
    private final Set<Thread> alive = ConcurrentHashMap.newKeySet();

    void awaitEndOf(List<String> names) {
      awaitTrue(
          () ->
              alive.stream()
                  .filter(thread -> names.stream().anyMatch(thread.getName()::startsWith))
                  .noneMatch(Thread::isAlive));
    }

    @Override
    public Thread unstarted(String name, Runnable work) {
      var thread = threads.unstarted(name, work);
      alive.add(thread);
      return thread;
    }

    @Override
    public ThreadFactory factory(String prefix) {
      var factory = threads.factory(prefix);
      return work -> {
        var thread = factory.newThread(work);
        alive.add(thread);
        return thread;
      };
    }

    @Override
    public ThreadFactory platformFactory(String name) {
      return threads.platformFactory(name);
    }
  }
}
