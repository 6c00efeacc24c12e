package dev.parley.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.net.ServerSentEventStream.StreamItem;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Servers that are late, silent or too generous.
@Timeout(60)
class OutgoingHttpClientTest {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int BYTES_MAX = 1_000;

  private final ManualTime time = new ManualTime();
  private final OutgoingHttpClient client = new OutgoingHttpClient(time, new SystemThreads());
  private final CountDownLatch over = new CountDownLatch(1);
  private final LinkedBlockingQueue<String> sends = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<String> closed = new LinkedBlockingQueue<>();
  private HttpServer server;

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/mute", _ -> await());
    server.createContext("/large", exchange -> answer(exchange, "x".repeat(BYTES_MAX + 1)));
    server.createContext("/exact", exchange -> answer(exchange, "x".repeat(BYTES_MAX)));
    server.createContext(
        "/away",
        exchange -> {
          exchange.getResponseHeaders().add("Location", url("/exact"));
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    server.createContext(
        "/line",
        exchange -> {
          // The request line shows whether the address was used as a proxy.
          answer(exchange, exchange.getRequestURI().toString());
        });
    server.createContext("/stream", this::stream);
    server.start();
  }

  @AfterEach
  void close() {
    over.countDown();
    client.close();
    server.stop(0);
  }

  @Test
  void a_body_may_have_the_maximum_size_but_no_byte_more() throws Exception {
    assertThat(client.send(get("/exact"), BYTES_MAX, PATIENCE).body()).hasSize(BYTES_MAX);
    assertThatThrownBy(() -> client.send(get("/large"), BYTES_MAX, PATIENCE))
        .isInstanceOf(ResponseTooLargeException.class)
        .hasMessage("a response has more than 1000 bytes");
  }

  @Test
  void the_beginning_of_a_large_body_can_be_enough() throws Exception {
    var target = AddressPolicy.allowAll().check(url("/large"));

    var response = client.send(target, get("/large"), BYTES_MAX, PATIENCE);

    assertThat(response.body()).hasSize(BYTES_MAX);
    assertThat(response.whole()).isFalse();
  }

  @Test
  void a_redirect_is_a_response_like_others() throws Exception {
    assertThat(client.send(get("/away"), BYTES_MAX, PATIENCE).status()).isEqualTo(302);
  }

  @Test
  void a_response_that_does_not_start_times_out() throws Exception {
    var sent = run(() -> client.send(get("/mute"), BYTES_MAX, PATIENCE));

    assertThat(time.awaitWait("caller")).isEqualTo(PATIENCE);
    time.advance(PATIENCE);

    assertThatThrownBy(sent::join).hasRootCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void a_body_that_drips_forever_times_out_and_closing_it_closes_the_connection() throws Exception {
    try (var response = client.open(get("/stream"), PATIENCE)) {
      var body = run(() -> response.readAll(BYTES_MAX, PATIENCE));
      time.awaitWait("caller");
      for (var i = 0; i < 4; i++) {
        sends.add("x");
        time.advance(Duration.ofSeconds(3));
      }
      assertThatThrownBy(body::join).hasRootCauseInstanceOf(TimeoutException.class);
    }

    String end = null;
    while (end == null) {
      sends.add("x".repeat(100_000));
      end = closed.poll(10, TimeUnit.MILLISECONDS);
    }
    assertThat(end).isEqualTo("broken");
  }

  @Test
  void a_stream_delivers_events_as_they_arrive_and_notices_silence() throws Exception {
    try (var response = client.open(get("/stream"), PATIENCE)) {
      var events = new ServerSentEventStream(response, time, new EventLimits(100));
      assertThat(events.ready()).isNull();
      sends.add("id: 1\ndata: a\n\ndata: b\n\n");
      assertThat(events.next(PATIENCE)).isEqualTo(received("a"));
      assertThat(events.ready()).isEqualTo(received("b"));

      sends.add(": still here\n");
      var next = run(() -> events.next(PATIENCE));
      time.advanceToWait("caller");
      assertThat(next.join()).isEqualTo(new StreamItem.StreamSilent());

      sends.add("end");
      assertThat(events.next(PATIENCE)).isEqualTo(new StreamItem.StreamEnded(null));
    }
  }

  @Test
  void comments_keep_an_active_stream_open() throws Exception {
    try (var response = client.open(get("/stream"), PATIENCE)) {
      var events = new ServerSentEventStream(response, time, new EventLimits(1_000_000));
      var next = run(() -> events.nextWhileActive(PATIENCE));
      time.awaitWait("caller");
      time.advance(Duration.ofSeconds(9));
      sends.add(": still here\n");
      while (!time.awaitWait("caller").equals(PATIENCE)) {
        assertThat(Thread.interrupted()).isFalse();
      }
      time.advance(Duration.ofSeconds(9));
      sends.add("id: 1\ndata: a\n\n");

      assertThat(next.join()).isEqualTo(received("a"));
    }
  }

  @Test
  void an_unread_stream_does_not_fill_the_memory_and_its_size_is_limited() throws Exception {
    try (var response = client.open(get("/stream"), PATIENCE)) {
      var events = new ServerSentEventStream(response, time, new EventLimits(1_000, 5_000));
      for (var i = 0; i < 100; i++) {
        sends.add("data: " + "x".repeat(90) + "\n\n");
      }
      var count = 0;
      var item = events.next(PATIENCE);
      for (; item instanceof StreamItem.EventReceived; item = events.next(PATIENCE)) {
        count++;
      }
      assertThat(count).isEqualTo(51);
      assertThat(item)
          .isInstanceOfSatisfying(
              StreamItem.StreamEnded.class,
              end -> assertThat(end.reason()).hasMessage("a response has more than 5000 bytes"));
    }
  }

  @Test
  void an_http_name_is_reached_at_the_address_that_was_checked() throws Exception {
    var policy =
        new AddressPolicy(
            Set.of(), _ -> new InetAddress[] {InetAddress.getLoopbackAddress()}, _ -> true);
    var address = "http://rebind.example:" + server.getAddress().getPort() + "/line";

    var response =
        client.send(
            policy.check(address),
            HttpRequest.newBuilder(URI.create(address)).build(),
            BYTES_MAX,
            PATIENCE);

    assertThat(new String(response.body(), UTF_8)).isEqualTo(address);
  }

  @Test
  void a_closed_client_sends_nothing() {
    client.close();

    assertThatThrownBy(() -> client.send(get("/exact"), BYTES_MAX, PATIENCE))
        .isInstanceOf(IOException.class)
        .hasMessage("the server is stopping");
  }

  private static StreamItem received(String data) {
    return new StreamItem.EventReceived(new ServerSentEvent("", data, "1"));
  }

  /// Sends what the test puts into the queue, until `end`.
  private void stream(HttpExchange exchange) throws IOException {
    try {
      exchange.sendResponseHeaders(200, 0);
      // The server sends the headers with the first byte.
      exchange.getResponseBody().write('\n');
      exchange.getResponseBody().flush();
      for (var next = sends.take(); !next.equals("end"); next = sends.take()) {
        exchange.getResponseBody().write(next.getBytes(UTF_8));
        exchange.getResponseBody().flush();
      }
      exchange.close();
      closed.add("ended");
    } catch (IOException broken) {
      closed.add("broken");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static void answer(HttpExchange exchange, String body) throws IOException {
    exchange.sendResponseHeaders(200, body.length());
    exchange.getResponseBody().write(body.getBytes(UTF_8));
    exchange.close();
  }

  private void await() {
    try {
      over.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private HttpRequest get(String path) {
    return HttpRequest.newBuilder(URI.create(url(path))).build();
  }

  private String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  private static <T> CompletableFuture<T> run(Callable<T> work) {
    var result = new CompletableFuture<T>();
    new SystemThreads()
        .start(
            "caller",
            () -> {
              try {
                result.complete(work.call());
              } catch (Exception failed) {
                result.completeExceptionally(new CompletionException(failed));
              }
            });
    return result;
  }
}
