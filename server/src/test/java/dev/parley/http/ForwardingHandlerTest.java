package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.HttpListener.Forwarding;
import dev.parley.http.HttpListener.HttpListenerDependencies;
import dev.parley.http.ServerLocation.Elsewhere;
import dev.parley.http.ServerLocation.Here;
import dev.parley.http.ServerLocation.Location;
import dev.parley.http.ServerLocation.Unknown;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A standby server forwards connections, also if others are wrong about who is active.
@Timeout(60)
class ForwardingHandlerTest {

  private final ManualTime time = new ManualTime();
  private final ForwardedClient forwardedClient = new ForwardedClient("secret", "machine");
  private final AtomicInteger lookUps = new AtomicInteger();
  private volatile Location location = new Unknown();
  private volatile CountDownLatch lookUpEnds = new CountDownLatch(0);
  private HttpListener listener;

  @BeforeEach
  void start() {
    var standby =
        Route.get(
            "/api/cluster", "", ResponseDescription.other("text/plain"), _ -> text("no active"));
    listener =
        new HttpListener(
            dependencies(), new Forwarding(this::find, forwardedClient), List.of(standby));
    listener.start();
  }

  @AfterEach
  void stop() {
    listener.close();
  }

  private HttpListenerDependencies dependencies() {
    return new HttpListenerDependencies(
        new HttpSettings(
            "127.0.0.1", 0, Set.of(), Set.of(), List.of(), Duration.ZERO, HttpLimits.DEFAULTS),
        new Metrics(),
        new OpenStreams(10, time),
        time,
        new SystemThreads(),
        UUID::randomUUID);
  }

  private Location find(Duration patience) throws InterruptedException {
    var found = location;
    lookUps.incrementAndGet();
    lookUpEnds.await();
    return found;
  }

  private static Reply text(String text) {
    return new Reply.Bytes("text/plain", text.getBytes(StandardCharsets.UTF_8));
  }

  private Socket send(String path) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), listener.port());
    var head = "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".formatted(path);
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String reply(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void a_server_whose_address_is_that_of_the_active_one_does_not_forward_to_itself_for_ever()
      throws Exception {
    location = new Elsewhere(URI.create("http://127.0.0.1:" + listener.port()));
    try (var socket = send("/api/contexts")) {
      var answer = ManualTime.start("client", () -> reply(socket));

      assertThat(time.advanceUntil(answer, "request")).startsWith("HTTP/1.1 503 ");
    }
  }

  @Test
  void forwarded_connections_are_closed_when_another_server_becomes_active() throws Exception {
    try (var silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      location = new Elsewhere(URI.create("http://127.0.0.1:" + silent.getLocalPort()));
      try (var early = send("/early");
          var _ = silent.accept()) {
        listener.closeForwarded();
        assertThat(reply(early)).isEmpty();
      }

      // A request that found the former server, and connects to it afterwards.
      lookUpEnds = new CountDownLatch(1);
      var before = lookUps.get();
      try (var late = send("/late")) {
        while (lookUps.get() == before) {
          Thread.onSpinWait();
        }
        listener.closeForwarded();
        lookUpEnds.countDown();
        try (var _ = silent.accept()) {
          assertThat(reply(late)).isEmpty();
        }
      }
    }
  }

  @Test
  void a_server_that_becomes_active_closes_what_it_has_forwarded() throws Exception {
    try (var silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      location = new Elsewhere(URI.create("http://127.0.0.1:" + silent.getLocalPort()));
      try (var client = send("/early");
          var _ = silent.accept()) {
        location = new Here();
        listener.serve(dependencies(), List.of(), List.of(), null);
        assertThat(reply(client)).isEmpty();
      }
      try (var client = send("/later")) {
        assertThat(reply(client)).startsWith("HTTP/1.1 404 ");
      }
    }
  }

  @Test
  void a_server_that_does_not_know_any_more_that_it_is_active_serves_nothing() throws Exception {
    location = new Here();
    listener.serve(
        dependencies(), List.of(), List.of(), new Forwarding(this::find, forwardedClient));
    try (var client = send("/active")) {
      assertThat(reply(client)).startsWith("HTTP/1.1 404 ");
    }
    location = new Unknown();
    try (var client = send("/suspended")) {
      var answer = ManualTime.start("client", () -> reply(client));

      assertThat(time.advanceUntil(answer, "request")).startsWith("HTTP/1.1 503 ");
    }
  }

  @Test
  void the_state_of_the_cluster_can_be_read_while_no_server_is_active() throws Exception {
    try (var client = send("/api/cluster")) {
      assertThat(reply(client)).startsWith("HTTP/1.1 200 ").endsWith("no active");
    }
  }

  @Test
  void a_request_is_rejected_if_no_server_becomes_active() throws Exception {
    try (var socket = send("/api/contexts")) {
      var answer = ManualTime.start("client", () -> reply(socket));

      assertThat(time.advanceUntil(answer, "request"))
          .contains(new Rejection.Unavailable("").code(), "no server of the cluster is active");
    }
  }
}
