package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpListenerTest {

  private static final UUID ID = new UUID(0, 7);
  private static final Time TIME = new SystemTime(new SystemThreads());

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<LogRecord> logged = new ArrayList<>();
  private final Logger logger = Logger.getLogger(JettyHandler.class.getName());
  private final Handler collector =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          logged.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };
  private HttpListener listener;

  @BeforeEach
  void open() {
    logger.addHandler(collector);
    logger.setUseParentHandlers(false);
    listener =
        listener(
            0,
            Route.get("/bug", "Fails", ResponseDescription.empty(), _ -> fail("secret of Foo")),
            Route.get(
                "/late",
                "Fails late",
                ResponseDescription.stream(),
                _ -> new Reply.Stream(this::late)),
            Route.get(
                "/empty",
                "Writes nothing",
                ResponseDescription.stream(),
                _ -> new Reply.Stream(this::empty)),
            Route.get(
                "/thread",
                "Says who answers",
                ResponseDescription.other("text/plain"),
                _ -> thread()),
            Route.get(
                "/a/{x}",
                "Any",
                ResponseDescription.other("text/plain"),
                r -> text("any " + r.path("x"))),
            Route.get("/a/b", "One", ResponseDescription.other("text/plain"), _ -> text("literal")),
            Route.get(
                "/a/{x}/c",
                "Deep",
                ResponseDescription.other("text/plain"),
                r -> text(r.path("x"))),
            Route.withoutBody(
                Route.Method.POST,
                "/busy",
                "Refuses",
                ResponseDescription.empty(),
                _ -> {
                  throw new Rejection.Unavailable("not now");
                }));
    listener.start();
  }

  @AfterEach
  void close() {
    http.close();
    listener.close();
    logger.removeHandler(collector);
    logger.setUseParentHandlers(true);
  }

  @Test
  void a_bug_is_logged_under_a_number_and_only_that_is_told() {
    var reply = get("/bug");

    assertThat(reply.statusCode()).isEqualTo(500);
    assertThat(reply.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    assertThat(reply.body()).contains(ID.toString()).doesNotContain("secret", "Exception", "Foo");
    assertThat(logged).hasSize(1);
    assertThat(logged.getFirst().getMessage()).contains(ID.toString());
    assertThat(logged.getFirst().getThrown()).hasMessage("secret of Foo");
  }

  @Test
  void a_bug_after_the_reply_has_begun_cuts_the_reply() {
    assertThatThrownBy(() -> get("/late")).hasCauseInstanceOf(IOException.class);
  }

  @Test
  void a_stream_that_has_written_nothing_is_not_detached() {
    assertThat(get("/empty").body()).isEqualTo("not detached");
  }

  @Test
  void every_request_has_a_virtual_thread() {
    assertThat(get("/thread").body()).isEqualTo("virtual");
  }

  @Test
  void literal_segments_beat_variables_where_they_lead_somewhere() {
    assertThat(get("/a/b").body()).isEqualTo("literal");
    assertThat(get("/a/other").body()).isEqualTo("any other");
    assertThat(get("/a/b/c").body()).isEqualTo("b");
    assertThat(get("/a/%41+b").body()).isEqualTo("any A+b");
  }

  @Test
  void the_head_of_a_reply_can_be_had_alone() {
    var reply = send(request("/a/b").method("HEAD", BodyPublishers.noBody()));
    assertThat(reply.statusCode()).isEqualTo(200);
    assertThat(reply.body()).isEmpty();
    assertThat(reply.headers().firstValue("Content-Length")).hasValue("7");
  }

  @Test
  void who_comes_too_early_is_told_to_come_back() {
    var reply = send(request("/busy").POST(BodyPublishers.noBody()));
    assertThat(reply.statusCode()).isEqualTo(503);
    assertThat(reply.headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void nothing_says_what_the_server_is_made_of() {
    assertThat(get("/a/b").headers().map()).doesNotContainKeys("server", "x-powered-by");
  }

  @Test
  void two_routes_for_one_path_are_a_mistake() {
    var route = Route.get("/x", "One", ResponseDescription.empty(), _ -> text(""));
    assertThatThrownBy(() -> listener(0, route, route))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_port_that_is_taken_is_said_so() {
    try (var second = listener(listener.port())) {
      assertThatThrownBy(second::start)
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("cannot listen on 127.0.0.1:" + listener.port());
    }
  }

  /// If the listener stops in the wrong order, a caller waits forever in about every tenth round.
  @Test
  void nobody_who_comes_while_it_stops_is_left_waiting() throws Exception {
    for (var round = 0; round < 40; round++) {
      var stopping =
          listener(0, Route.get("/", "Any", ResponseDescription.empty(), _ -> text("here")));
      stopping.start();
      var answered = new CountDownLatch(20 + round);
      try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var all =
            IntStream.range(0, 4)
                .mapToObj(_ -> callers.submit(() -> callUntilRefused(stopping.port(), answered)))
                .toList();
        answered.await();
        if (round % 2 == 0) {
          stopping.drain(Duration.ofSeconds(5));
        }
        stopping.close();
        for (var caller : all) {
          assertThat(caller.get()).isInstanceOf(ConnectException.class);
        }
      }
    }
  }

  /// Sends requests repeatedly, each on a new connection. Returns the failure that ended it.
  private static IOException callUntilRefused(int port, CountDownLatch answered) {
    var request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    while (true) {
      try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.setSoTimeout(20_000);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        socket.getInputStream().readAllBytes();
        answered.countDown();
      } catch (SocketTimeoutException | ConnectException over) {
        return over;
      } catch (IOException cutOff) {
        // The server is stopping.
      }
    }
  }

  /// As on a standby server, which does not know the keys of the cluster.
  @Test
  void a_listener_without_credentials_rejects_all_callers_if_one_is_required() {
    listener.close();
    var settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            Set.of(),
            Set.of(),
            List.of(),
            Duration.ZERO,
            HttpLimits.DEFAULTS,
            EdgeSettings.DEFAULTS,
            true);
    var route = Route.get("/thread", "Shows", ResponseDescription.empty(), _ -> thread());
    listener = listener(settings, route);
    listener.start();
    assertThat(get("/thread").statusCode()).isEqualTo(401);
    assertThat(send(request("/thread").header("Authorization", "Bearer parley_key_x")).statusCode())
        .isEqualTo(401);
  }

  private static HttpListener listener(int port, Route... routes) {
    return listener(
        new HttpSettings(
            "127.0.0.1", port, Set.of(), Set.of(), List.of(), Duration.ZERO, HttpLimits.DEFAULTS),
        routes);
  }

  private static HttpListener listener(HttpSettings httpSettings, Route... routes) {
    return new HttpListener(
        new HttpListener.HttpListenerDependencies(
            httpSettings,
            new Metrics(),
            new OpenStreams(10, TIME),
            TIME,
            new SystemThreads(),
            () -> ID),
        List.of(routes));
  }

  private static Reply fail(String reason) {
    throw new IllegalStateException(reason);
  }

  private void late(FrameStream.FrameSink frameSink) throws IOException {
    frameSink.write(ByteBuffer.wrap(new byte[] {'x'}));
    fail("late");
  }

  private void empty(FrameStream.FrameSink frameSink) throws IOException {
    frameSink.write(ByteBuffer.allocate(0));
    var detached = frameSink.detach();
    if (detached.isEmpty()) {
      frameSink.write(ByteBuffer.wrap("not detached".getBytes(StandardCharsets.UTF_8)));
    } else {
      detached.get().abort();
    }
  }

  private static Reply thread() {
    return text(Thread.currentThread().isVirtual() ? "virtual" : "platform");
  }

  private static Reply text(String text) {
    return new Reply.Bytes("text/plain", text.getBytes(StandardCharsets.UTF_8));
  }

  private HttpResponse<String> get(String path) {
    return send(request(path));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (IOException failed) {
      throw new AssertionError(failed);
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }
}
