package dev.parley.external.a2a;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The connection to a remote agent that does not finish a response, or that is not encrypted.
@Timeout(60)
class A2aConnectionTest {

  private final ManualTime time = new ManualTime();
  private final OutgoingHttpClient http = new OutgoingHttpClient(time, new SystemThreads());
  private final CountDownLatch over = new CountDownLatch(1);
  private final LinkedBlockingQueue<String> shown = new LinkedBlockingQueue<>();
  private HttpServer server;

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/stuck",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          await();
        });
    server.createContext(
        "/",
        exchange -> {
          shown.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void close() {
    over.countDown();
    server.stop(0);
    http.close();
  }

  private void await() {
    try {
      over.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private A2aConnection connection(String url) {
    var settings =
        new A2aRemoteSettings(
            URI.create(url), null, null, Map.of(), Duration.ofSeconds(5), Duration.ofMinutes(1));
    return new A2aConnection(settings, http, (_, _) -> Optional.of("the-key"));
  }

  private static HttpRequest.Builder get(String url) {
    return HttpRequest.newBuilder(URI.create(url)).GET();
  }

  private String here() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Test
  void an_answer_that_does_not_end_is_not_waited_for() throws Exception {
    var response = connection(here()).send(get(here() + "/stuck"), "me", Duration.ofMinutes(1));
    new SystemThreads().start("clock", () -> time.advanceToWait(""));

    assertThatThrownBy(() -> A2aConnection.read(response, 1_000, Duration.ofSeconds(5)))
        .isInstanceOf(A2aFailure.class)
        .hasMessage("it started to answer, but did not finish within 5000 ms");
  }

  @Test
  void a_key_is_shown_to_this_machine() throws Exception {
    assertThat(connection(here()).sendAndRead(get(here() + "/"), "me", 1_000).status())
        .isEqualTo(204);
    assertThat(shown).containsExactly("Bearer the-key");
  }

  @Test
  void a_key_is_not_sent_where_others_can_read_it() {
    var url = "http://agent.invalid";
    assertThatThrownBy(() -> connection(url).sendAndRead(get(url), "me", 1_000))
        .isInstanceOf(A2aFailure.class)
        .hasMessageContaining("configure an https address");
  }
}
