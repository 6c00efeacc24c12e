package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.Sha256;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Random requests and frames for every operation of `/openapi.json` and every socket.
///
/// No input gets a status of 500 or above, a stack trace, or another person's text; none makes the
/// server hang, keep threads, streams or files open, or change a context of another person.
///
/// A failure prints its seed and request. `-Dparley.fuzz.seed` and `-Dparley.fuzz.requests` repeat or
/// extend a run.
class ApiFuzzTest {

  private static final long SEED = 19;
  private static final int REQUESTS = 3_000;
  private static final int REQUESTS_LONG = 150_000;
  private static final int CLIENTS = 3;
  private static final int ROUNDS_MAX = 50;

  /// Of how many operations a request must succeed, so that a run tests more than error messages.
  private static final int OPERATIONS_MIN = 70;

  private static final String SECRET = "only-ann-may-read-this";

  /// How much more may be in use after the campaign than after its first third.
  private static final int THREADS_MORE = 10;

  private static final int FILES_MORE = 30;
  private static final long HEAP_BYTES_MORE = 48L << 20;

  private static final String YAML =
      """
      agents:
        - {id: agent-code, tools: [files, ask_user]}
        - {id: agent-writer, tools: [files]}
      """;

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();
  private final CountedThreads threads = new CountedThreads();

  /// What a server uses while nobody uses it.
  private record Use(int threads, long files, long heapBytes) {}

  @Test
  void no_input_breaks_the_server_or_reaches_what_is_private() throws Exception {
    campaign(Integer.getInteger("parley.fuzz.requests", REQUESTS));
  }

  @Test
  @Tag("long")
  void no_input_breaks_the_server_or_reaches_what_is_private_in_a_long_run() throws Exception {
    campaign(Integer.getInteger("parley.fuzz.requests", REQUESTS_LONG));
  }

  private void campaign(int requests) throws Exception {
    var testServer = open();
    try (var logged = new LoggedErrors();
        AutoCloseable _ = () -> close(testServer)) {
      var before = canary(testServer);
      var client = client(testServer);
      send(client, 0, requests / 3);
      var first = use(testServer);
      send(client, requests / 3, requests);
      var last = use(testServer);

      assertThat(client.succeeded()).hasSizeGreaterThan(OPERATIONS_MIN);
      assertThat(logged.found()).isEmpty();
      assertThat(canaryEvents(testServer)).isEqualTo(before);
      assertThat(last.threads())
          .as("threads: %s", threads.running())
          .isLessThan(first.threads() + THREADS_MORE);
      assertThat(last.files()).isLessThan(first.files() + FILES_MORE);
      assertThat(last.heapBytes()).isLessThan(first.heapBytes() + HEAP_BYTES_MORE);
    }
  }

  private TestServer open() {
    var wish = TestServer.Wish.USUAL.tokens(token("ann"), token("mallory"));
    return TestServer.durable(folder, wish, YAML, time, threads);
  }

  /// Closes a server whose threads may wait for its time.
  private void close(TestServer testServer) {
    var closing =
        ManualTime.start(
            "close",
            () -> {
              testServer.close();
              return true;
            });
    time.advanceUntil(closing, "");
  }

  private static ApiToken token(String name) {
    return new ApiToken(name, HexFormat.of().formatHex(Sha256.of(name + "-token")));
  }

  private static String[] ann() {
    return new String[] {"Authorization", "Bearer ann-token"};
  }

  /// Creates a context of another person and returns its events.
  private static String canary(TestServer testServer) throws Exception {
    try (var leaks = new SecretLeaks()) {
      var user = new TestUser(testServer, leaks, ann());
      user.await(user.say("canary", "say " + SECRET), "task-complete");
    }
    return canaryEvents(testServer);
  }

  private static String canaryEvents(TestServer testServer) {
    var events = testServer.get("/api/contexts/canary/events?limit=1000", ann());
    assertThat(events.statusCode()).isEqualTo(200);
    assertThat(events.body()).contains(SECRET);
    return events.body();
  }

  private FuzzClient client(TestServer testServer) {
    var ids = new FuzzIds();
    ids.addContext("canary");
    var operations = FuzzOperation.all(testServer.get("/openapi.json", ann()).body());
    assertThat(operations).hasSizeGreaterThan(60).anyMatch(FuzzOperation::socket);
    var target = new FuzzClient.FuzzTarget(testServer.url.getPort(), time, "mallory-token", SECRET);
    return new FuzzClient(target, operations, ids, Long.getLong("parley.fuzz.seed", SEED));
  }

  /// Sends the requests with these numbers, by several clients at the same time.
  private static void send(FuzzClient client, int from, int to) {
    var failed = new AtomicReference<Throwable>();
    var clients = new ArrayList<CompletableFuture<Void>>();
    for (var i = 0; i < CLIENTS; i++) {
      var first = from + i;
      clients.add(
          ManualTime.start(
              "fuzz-client",
              () -> {
                for (var n = first; n < to && failed.get() == null; n += CLIENTS) {
                  try {
                    client.send(n);
                  } catch (Exception | AssertionError failure) {
                    failed.compareAndSet(null, failure);
                  }
                }
                return null;
              }));
    }
    clients.forEach(CompletableFuture::join);
    if (failed.get() != null) {
      throw new CompletionException(failed.get());
    }
  }

  /// What is in use when all contexts of the clients are deleted and all streams have ended.
  private Use use(TestServer testServer) throws IOException {
    var port = testServer.url.getPort();
    var contexts = contexts(port);
    for (var round = 0; !contexts.isEmpty(); round++) {
      assertThat(round).as("%s cannot be deleted", contexts).isLessThan(ROUNDS_MAX);
      for (var context : contexts) {
        // 429: its tasks did not stop in the time that passes for the server.
        var reply = reply(port, "DELETE", "/api/contexts/" + context);
        assertThat(reply.status()).as(reply.toString()).isIn(204, 404, 410, 429);
      }
      contexts = contexts(port);
    }
    for (var i = 0; i < 100; i++) {
      time.advance(Duration.ofMinutes(1));
    }
    testServer.awaitStreams(0);
    System.gc();
    System.gc();
    var memory = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    var system = ManagementFactory.getOperatingSystemMXBean();
    var files =
        system instanceof UnixOperatingSystemMXBean unix ? unix.getOpenFileDescriptorCount() : 0;
    return new Use(threads.count(), files, memory.getUsed());
  }

  private List<String> contexts(int port) throws IOException {
    var page = reply(port, "GET", "/api/contexts?limit=1000");
    return Json.mapper()
        .readTree(page.body())
        .path("items")
        .valueStream()
        .map(item -> new ContextId(item.path("contextId").asString()).value())
        .toList();
  }

  /// Sends a request of the fuzzing person, and moves time until the reply is there.
  private FuzzConnection.RawReply reply(int port, String method, String path) throws IOException {
    try (var connection = new FuzzConnection(port, time)) {
      var head =
          method
              + (" " + path + " HTTP/1.1\r\nHost: localhost\r\n")
              + "Authorization: Bearer mallory-token\r\n\r\n";
      connection.send(head.getBytes(StandardCharsets.US_ASCII));
      return connection.reply();
    }
  }
}
