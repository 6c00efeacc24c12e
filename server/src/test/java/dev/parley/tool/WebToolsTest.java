package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.parley.net.AddressPolicy;
import dev.parley.net.AddressPolicy.PublicAddresses;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/// The server is on the loopback address. The tools may access it as `127.0.0.1`, and find it as
/// `open.test`, which represents a host on the internet.
@Timeout(60)
class WebToolsTest {

  private static final String TOKEN = "very-secret-token";
  private static final Threads THREADS = new SystemThreads();
  private static final Time TIME = new SystemTime(THREADS);

  @TempDir Path folder;

  private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch release = new CountDownLatch(1);
  private final OutgoingHttpClient client = new OutgoingHttpClient(TIME, THREADS);
  private ExecutorService threads;
  private HttpServer server;
  private FakeToolContext fakeToolContext;
  private String url;

  @BeforeEach
  void open() throws IOException {
    fakeToolContext = FakeToolContext.in(folder);
    threads = Executors.newVirtualThreadPerTaskExecutor();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.start();
    url = "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @AfterEach
  void close() {
    release.countDown();
    client.close();
    server.stop(0);
    threads.close();
  }

  @Test
  void a_page_is_read_and_decoded() throws Exception {
    answer("/", 200, "text/plain; charset=ISO-8859-1", "süß".getBytes(StandardCharsets.ISO_8859_1));
    var page = FakeToolContext.done(fetch(url + "/"));

    assertThat(page.path("status").asInt()).isEqualTo(200);
    assertThat(page.path("body").asString()).isEqualTo("süß");
    assertThat(page.path("contentType").asString()).contains("text/plain");
  }

  @Test
  void what_is_not_text_is_summarised_and_errors_are_answers() throws Exception {
    answer("/image", 200, "image/png", new byte[] {(byte) 0x89, 'P', 0, 1});
    answer("/strange", 404, "text/plain; charset=nonsense", bytes("gone"));
    answer("/untyped", 200, null, bytes("{}"));

    assertThat(FakeToolContext.done(fetch(url + "/image")).path("body").asString())
        .isEqualTo("[not text: 4 bytes]");
    assertThat(FakeToolContext.done(fetch(url + "/strange")).path("status").asInt()).isEqualTo(404);
    assertThat(FakeToolContext.done(fetch(url + "/strange")).path("body").asString())
        .isEqualTo("gone");
    assertThat(FakeToolContext.done(fetch(url + "/untyped")).path("body").asString())
        .isEqualTo("{}");
  }

  @Test
  void a_body_without_end_is_cut() throws Exception {
    on(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (var body = exchange.getResponseBody()) {
            while (true) {
              body.write(bytes("for ever and ever\n".repeat(100)));
            }
          }
        });
    var page = FakeToolContext.done(fetch(url));

    assertThat(page.path("body").asString()).hasSize(20_000);
    assertThat(page.path("note").asString()).contains("There is more");
  }

  @Test
  void a_server_that_does_not_answer_or_stops_in_the_middle_is_not_waited_for() throws Exception {
    on("/silent", _ -> awaitRelease());
    on(
        "/half",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write(bytes("half"));
          exchange.getResponseBody().flush();
          awaitRelease();
        });
    var time = new ManualTime();
    try (var patient = new OutgoingHttpClient(time, new SystemThreads())) {
      var tool = new FetchTool(new ToolHttpClient(patient, time, reach(), credentials()));
      for (var path : List.of("/silent", "/half")) {
        new SystemThreads().start("clock", () -> time.advanceToWait(""));
        var result = tool.call(new FetchTool.Arguments(url + path), fakeToolContext);
        assertThat(FakeToolContext.failed(result))
            .isEqualTo("the server did not answer within 30 s");
      }
    }
  }

  @Test
  void an_interrupt_ends_a_request() throws Exception {
    var asked = new CountDownLatch(1);
    on(
        "/",
        _ -> {
          asked.countDown();
          awaitRelease();
        });
    var thrown = new AtomicReference<Throwable>();
    var caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    fetch(url);
                  } catch (InterruptedException stopped) {
                    thrown.set(stopped);
                  }
                });
    asked.await();
    caller.interrupt();
    caller.join();

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
  }

  @Test
  void redirects_are_followed_up_to_a_limit() throws Exception {
    redirect("/a", 302, "/b");
    redirect("/b", 308, url + "/c");
    answer("/c", 200, "text/plain", bytes("here"));
    redirect("/round", 301, "/round");

    assertThat(FakeToolContext.done(fetch(url + "/a")).path("body").asString()).isEqualTo("here");
    assertThat(FakeToolContext.done(fetch(url + "/a")).path("url").asString())
        .isEqualTo(url + "/c");
    assertThat(FakeToolContext.failed(fetch(url + "/round"))).contains("more than 5 redirects");
  }

  @Test
  void a_redirect_cannot_lead_inside() throws Exception {
    var inside = List.of("http://localhost:1/", "http://[::1]/", "file:///etc/passwd", "http://0/");
    for (var i = 0; i < inside.size(); i++) {
      redirect("/in" + i, 302, inside.get(i));

      assertThat(FakeToolContext.failed(fetch(url + "/in" + i))).contains("redirects, but");
    }
    redirect("/bad", 302, "http://a b");
    assertThat(FakeToolContext.failed(fetch(url + "/bad"))).contains("an invalid URL");
  }

  @Test
  void the_address_that_was_checked_is_the_one_that_is_used() throws Exception {
    answer("/page", 200, "text/plain", bytes("pinned"));

    // Only the resolver of the test knows this name.
    var page =
        FakeToolContext.done(
            fetch("http://open.test:" + server.getAddress().getPort() + "/page?q=1"));

    assertThat(page.path("body").asString()).isEqualTo("pinned");
    assertThat(seen.getFirst()).startsWith("GET /page?q=1 open.test:");
  }

  @Test
  void any_request_can_be_made_and_only_reading_follows_redirects() throws Exception {
    redirect("/post", 307, "/other");
    var headers = Json.object().put("X-Kind", "test");
    var result = FakeToolContext.done(http(url + "/post", "post", headers, "hello"));

    assertThat(result.path("status").asInt()).isEqualTo(307);
    assertThat(result.path("location").asString()).isEqualTo("/other");
    assertThat(seen).hasSize(1);
    assertThat(seen.getFirst()).startsWith("POST /post").contains("X-kind=[test]", "hello");
  }

  @Test
  void what_cannot_be_sent_is_refused() throws Exception {
    assertThat(FakeToolContext.failed(http(url, "BREW", null, null)))
        .contains("method is one of DELETE");
    assertThat(FakeToolContext.failed(http(url, "GET", Json.object().put("Host", "x"), null)))
        .contains("header");
    assertThat(FakeToolContext.failed(http(url, "GET", Json.object().put("X", "a\r\nY: b"), null)))
        .contains("header");
    assertThat(FakeToolContext.failed(http(url, "GET", Json.object().put("X", 1), null)))
        .contains("headers.X must be a text");
    assertThat(
            FakeToolContext.failed(
                http(url, "GET", Json.object().put("Accept-Encoding", "br"), null)))
        .contains("Accept-Encoding");
    assertThat(FakeToolContext.failed(http(url, "POST", null, "x".repeat(1_100_000))))
        .contains("at most");
    assertThat(FakeToolContext.failed(fetch("http://127.0.0.1:1/"))).contains("private");
    assertThat(seen).isEmpty();
  }

  @Test
  void a_credential_goes_to_its_host_only_and_is_not_told_to_the_model() throws Exception {
    on(
        "/echo",
        exchange -> {
          var shown = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
          send(exchange, 200, "text/plain", bytes(shown));
        });
    redirect("/away", 302, "http://open.test:" + server.getAddress().getPort() + "/echo");

    assertThat(FakeToolContext.done(fetch(url + "/echo")).path("body").asString())
        .isEqualTo("Bearer [credential]");
    assertThat(FakeToolContext.done(fetch(url + "/away")).path("body").asString())
        .isEqualTo("null");
    assertThat(seen.getLast()).doesNotContain(TOKEN);
  }

  @Test
  void a_credential_is_not_sent_where_others_can_listen() throws Exception {
    answer("/", 200, "text/plain", bytes("hi"));
    // The resolver returns a public address, though the connection goes to the loopback address.
    fetch("http://far.test:" + server.getAddress().getPort() + "/");

    assertThat(seen).noneMatch(request -> request.contains(TOKEN));
  }

  @Test
  void a_server_with_a_certificate_of_its_own_making_is_told_nothing() throws Exception {
    var tls = SelfSignedCertificate.tls(folder);
    server.stop(0);
    var secure = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    secure.setHttpsConfigurator(new HttpsConfigurator(tls));
    secure.setExecutor(threads);
    server = secure;
    answer("/", 200, "text/plain", bytes("hi"));
    secure.start();

    assertThat(
            FakeToolContext.failed(
                fetch("https://127.0.0.1:" + secure.getAddress().getPort() + "/")))
        .contains("no safe connection");
    assertThat(seen).isEmpty();
  }

  @Test
  void headers_that_may_be_secret_do_not_go_on_to_another_host() throws Exception {
    answer("/there", 200, "text/plain", bytes("hi"));
    redirect("/here", 302, "http://open.test:" + server.getAddress().getPort() + "/there");
    var headers =
        Json.object().put("X-Api-Key", "abc").put("authorization", "mine").put("Accept", "text/x");
    FakeToolContext.done(http(url + "/here", null, headers, null));

    assertThat(seen.getFirst()).contains("abc", "mine", "text/x").doesNotContain(TOKEN);
    assertThat(seen.getLast()).contains("/there", "text/x").doesNotContain("abc", "mine", TOKEN);
  }

  @Test
  void both_ask_first_and_show_what_they_would_send() {
    var caller = new ToolHttpClient(client, TIME, reach(), Credentials.none());
    var fetchTool = new FetchTool(caller);
    var httpTool = new HttpTool(caller);
    var arguments =
        new HttpTool.Arguments("https://a.test/", "put", Json.object().put("A", "b"), "body");

    assertThat(fetchTool.permission()).isEqualTo(Tool.Permission.ASK);
    assertThat(fetchTool.effect()).isEqualTo(Tool.Effect.PURE);
    assertThat(httpTool.permission()).isEqualTo(Tool.Permission.ASK);
    assertThat(httpTool.effect()).isEqualTo(Tool.Effect.AT_MOST_ONCE);
    assertThat(fetchTool.preview(new FetchTool.Arguments("https://a.test/"), fakeToolContext))
        .contains("GET https://a.test/");
    assertThat(httpTool.preview(arguments, fakeToolContext))
        .contains("PUT https://a.test/\nA: \"b\"\n\nbody");
  }

  private ToolResult fetch(String address) throws InterruptedException {
    var caller = new ToolHttpClient(client, TIME, reach(), credentials());
    return new FetchTool(caller).call(new FetchTool.Arguments(address), fakeToolContext);
  }

  private ToolResult http(
      String address, @Nullable String method, @Nullable ObjectNode headers, @Nullable String body)
      throws InterruptedException {
    var caller = new ToolHttpClient(client, TIME, reach(), credentials());
    return new HttpTool(caller)
        .call(new HttpTool.Arguments(address, method, headers, body), fakeToolContext);
  }

  private AddressPolicy reach() {
    return new AddressPolicy(
        Set.of("127.0.0.1:" + server.getAddress().getPort()),
        WebToolsTest::resolve,
        address -> PublicAddresses.isPublic(address) || address.getHostName().equals("open.test"));
  }

  private static InetAddress[] resolve(String host) throws UnknownHostException {
    return switch (host) {
      case "open.test", "far.test" ->
          new InetAddress[] {InetAddress.getByAddress("open.test", new byte[] {127, 0, 0, 1})};
      default -> InetAddress.getAllByName(host);
    };
  }

  private Credentials credentials() {
    var ours = "127.0.0.1:" + server.getAddress().getPort();
    return (owner, host) ->
        owner.equals("local") && (host.equals(ours) || host.startsWith("far.test"))
            ? Optional.of(TOKEN)
            : Optional.empty();
  }

  private void on(String path, HttpHandler handler) {
    server.createContext(
        path,
        exchange -> {
          seen.add(
              "%s %s %s %s %s"
                  .formatted(
                      exchange.getRequestMethod(),
                      exchange.getRequestURI().getRawPath()
                          + Optional.ofNullable(exchange.getRequestURI().getRawQuery())
                              .map(query -> "?" + query)
                              .orElse(""),
                      exchange.getRequestHeaders().getFirst("Host"),
                      exchange.getRequestHeaders().entrySet(),
                      new String(exchange.getRequestBody().readAllBytes(), utf8())));
          handler.handle(exchange);
        });
  }

  private void answer(String path, int status, @Nullable String type, byte[] body) {
    on(path, exchange -> send(exchange, status, type, body));
  }

  private void redirect(String path, int status, String location) {
    on(
        path,
        exchange -> {
          exchange.getResponseHeaders().set("Location", location);
          send(exchange, status, null, bytes("moved"));
        });
  }

  private static void send(HttpExchange exchange, int status, @Nullable String type, byte[] body)
      throws IOException {
    if (type != null) {
      exchange.getResponseHeaders().set("Content-Type", type);
    }
    exchange.sendResponseHeaders(status, body.length);
    try (var output = exchange.getResponseBody()) {
      output.write(body);
    }
  }

  private void awaitRelease() {
    try {
      release.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(utf8());
  }

  private static Charset utf8() {
    return StandardCharsets.UTF_8;
  }
}
