package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.net.AddressRange;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What one address may use before its callers have authenticated, through real sockets.
class AddressLimitsTest {

  private static final int CONNECTIONS = 3;
  private static final int REQUESTS = 5;
  private static final int ATTEMPTS = 1_000;
  private static final String TOKEN = "Authorization: Bearer secret";

  private final ManualTime time = new ManualTime();
  private final List<Socket> sockets = new ArrayList<>();
  private HttpListener listener;

  @AfterEach
  void close() throws IOException {
    for (var socket : sockets) {
      socket.close();
    }
    listener.close();
  }

  /// Starts a listener with these trusted proxies.
  private void open(String... proxies) {
    var ranges = List.of(proxies).stream().map(AddressRange::parse).toList();
    var settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            Set.of(),
            Set.of(),
            List.of(new ApiToken("me", Sha256.hex("secret", new byte[0]))),
            Duration.ZERO,
            new HttpLimits(
                1 << 20,
                100,
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                CONNECTIONS,
                REQUESTS),
            new EdgeSettings(null, new TrustedProxies(ranges, true, false)));
    listener =
        new HttpListener(
            new HttpListener.HttpListenerDependencies(
                settings,
                new Metrics(),
                new OpenStreams(10, time),
                time,
                new SystemThreads(),
                UUID::randomUUID),
            List.of(
                Route.get(
                    "/address",
                    "Tells the address of the client",
                    ResponseDescription.empty(),
                    request ->
                        new Reply.Bytes(
                            "text/plain",
                            request
                                .remoteAddress()
                                .getHostAddress()
                                .getBytes(StandardCharsets.UTF_8)))));
    listener.start();
  }

  private Socket connect() throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), listener.port());
    socket.setSoTimeout(30_000);
    sockets.add(socket);
    return socket;
  }

  /// Sends a request on an open connection and returns its status; 0 if the connection was closed.
  private static int status(Socket socket, String... headers) throws IOException {
    var request =
        "GET /address HTTP/1.1\r\nHost: localhost\r\n"
            + String.join("\r\n", headers)
            + (headers.length == 0 ? "\r\n" : "\r\n\r\n");
    try {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        var next = socket.getInputStream().read();
        if (next < 0) {
          return 0;
        }
        head.append((char) next);
      }
      var length = head.substring(head.indexOf("Content-Length: ") + 16).split("\r\n", 2)[0];
      socket.getInputStream().readNBytes(Integer.parseInt(length));
      return Integer.parseInt(head.substring(9, 12));
    } catch (IOException reset) {
      return 0;
    }
  }

  @Test
  void an_address_has_few_connections_without_a_login() throws Exception {
    open();
    for (var i = 0; i < CONNECTIONS; i++) {
      assertThat(status(connect())).isEqualTo(401);
    }
    assertThat(status(connect())).isZero();

    // A login on one of them makes room for another one.
    assertThat(status(sockets.getFirst(), TOKEN)).isEqualTo(200);
    assertThat(status(connect())).isEqualTo(401);
    assertThat(status(connect())).isZero();
  }

  @Test
  void connections_with_a_login_and_closed_ones_do_not_count() throws Exception {
    open();
    for (var i = 0; i < 4 * CONNECTIONS; i++) {
      assertThat(status(connect(), TOKEN)).isEqualTo(200);
    }
    for (var i = 0; i < 4 * CONNECTIONS; i++) {
      // The server may notice a little later that the connection before was closed.
      var status = 0;
      for (var attempt = 0; status == 0 && attempt < ATTEMPTS; attempt++) {
        try (var socket = connect()) {
          status = status(socket);
        }
      }
      assertThat(status).isEqualTo(i < REQUESTS ? 401 : 429);
    }
  }

  @Test
  void an_address_has_few_requests_without_a_login_per_minute() throws Exception {
    open("127.0.0.1");
    var socket = connect();
    for (var i = 0; i < REQUESTS; i++) {
      assertThat(status(socket, "X-Forwarded-For: 198.51.100.1")).isEqualTo(401);
    }
    assertThat(status(socket, "X-Forwarded-For: 198.51.100.1")).isEqualTo(429);
    // What the client claims in front of its address is of no use.
    assertThat(status(socket, "X-Forwarded-For: 192.0.2.4, 198.51.100.1")).isEqualTo(429);

    assertThat(status(socket, "X-Forwarded-For: 198.51.100.2")).isEqualTo(401);
    assertThat(status(socket, "X-Forwarded-For: 198.51.100.1", TOKEN)).isEqualTo(200);
    time.advance(Duration.ofSeconds(60 / REQUESTS));
    assertThat(status(socket, "X-Forwarded-For: 198.51.100.1")).isEqualTo(401);
    assertThat(status(socket, "X-Forwarded-For: 198.51.100.1")).isEqualTo(429);
  }

  @Test
  void headers_of_others_do_not_change_the_address() throws Exception {
    open("10.0.0.0/8");
    var socket = connect();
    for (var i = 0; i < REQUESTS; i++) {
      assertThat(status(socket, "X-Forwarded-For: 198.51.100." + i)).isEqualTo(401);
    }
    assertThat(status(socket, "X-Forwarded-For: 198.51.100.99")).isEqualTo(429);
  }
}
