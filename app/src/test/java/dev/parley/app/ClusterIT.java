package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.TestPostgres;
import dev.parley.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Several real servers on one PostgreSQL database.
final class ClusterIT {

  /// One path of each API.
  private static final List<String> PATHS =
      List.of(
          "/",
          "/openapi.json",
          "/api/agent-types",
          "/api/contexts?limit=10",
          "/api/contexts/c/events?limit=1000",
          "/api/contexts/c/messages?limit=10",
          "/api/contexts/c/snapshot",
          "/api/contexts/c/tasks?limit=10",
          "/api/pending",
          "/api/sessions",
          "/chat/conversations/c",
          "/api/agents",
          "/a2a/assistant/.well-known/agent-card.json",
          "/api/contexts/none");

  @TempDir Path folder;

  private final String database = TestPostgres.createDatabase();
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<RealProcess> servers = new ArrayList<>();

  private RealProcess serve(String... more) {
    var data = folder.resolve("node" + servers.size());
    var arguments = new ArrayList<>(List.of("--db", database));
    arguments.addAll(List.of(more));
    var server = RealProcess.serve(data, arguments.toArray(String[]::new));
    servers.add(server);
    return server;
  }

  @AfterEach
  void stop() {
    servers.forEach(RealProcess::close);
    http.shutdownNow();
  }

  @Test
  void every_server_answers_the_requests_of_every_api() throws Exception {
    var active = serve().url();
    var standby = serve().url();
    assertThat(post(standby, "/api/contexts", "{\"contextId\":\"c\"}").statusCode()).isEqualTo(201);
    var task = send(standby, "c", "count to 20").get("taskId").asString();
    assertThat(streamToEnd(standby, "c", task)).isEqualTo(streamToEnd(active, "c", task));

    for (var path : PATHS) {
      var here = get(active, path);
      var there = get(standby, path);
      assertThat(there.statusCode()).as(path).isEqualTo(here.statusCode());
      assertThat(there.body()).as(path).isEqualTo(here.body());
    }
    // More than what is read with the head of a request.
    var large = "x".repeat(1_000_000);
    send(standby, "c", large);
    assertThat(get(active, "/api/contexts/c/messages?limit=100").body()).contains(large);
    assertThat(firstFrameOfSocket(standby)).contains("\"c\"");

    assertThat(role(active)).isEqualTo("active");
    assertThat(get(standby, "/readyz").body()).contains("standby");
    assertThat(get(standby, "/metrics").body())
        .contains("parley_cluster_active 0", "parley_cluster_takeovers_total 0")
        .contains("parley_cluster_database_seconds 0", "parley_cluster_nodes{role=\"standby\"} 1");
    var stream = HttpRequest.newBuilder(standby.resolve("/api/contexts/c/stream?after=0")).build();
    try (var _ = http.send(stream, BodyHandlers.ofInputStream()).body()) {
      assertThat(get(standby, "/metrics").body())
          .contains("parley_cluster_forwarded_connections ")
          .doesNotContain("parley_cluster_forwarded_connections 0");
    }
    assertThat(get(active, "/metrics").body())
        .contains("parley_cluster_active 1", "parley_cluster_takeovers_total 1")
        .contains("parley_cluster_forwarded_connections 0");
    assertThat(cluster(standby, "active").getFirst().get("load").get("streams").isNumber())
        .isTrue();
    assertThat(cluster(standby, "standby").getFirst().has("load")).isFalse();
  }

  @Test
  void a_server_that_cannot_reach_the_active_one_is_not_ready() throws Exception {
    var active = serve("--node-address", "http://127.0.0.1:1").url();
    assertThat(get(active, "/metrics").body()).contains("parley_cluster_nodes{role=\"standby\"} 0");
    var standby = serve().url();

    assertThat(get(active, "/readyz").body()).contains("ready");
    var ready = get(standby, "/readyz");
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body()).contains("cannot be reached at http://127.0.0.1:1", "--node-address");
    assertThat(get(standby, "/healthz").statusCode()).isEqualTo(200);
    try (var doctor =
        RealProcess.run("doctor", "--offline", "--db", database, "--url", active.toString())) {
      doctor.await();
      assertThat(String.join("\n", doctor.out()))
          .contains("is active", "is standby", "cannot be reached from here at http://127.0.0.1:1");
    }
  }

  @Test
  void a_suspended_server_writes_nothing_afterwards_and_reports_that_it_was_replaced()
      throws Exception {
    try (var witness = new LogWitness()) {
      var first = serve();
      var second = serve();
      var context = witness.create(first.url());
      witness.startWatching(first.url(), context);
      witness.send(first.url(), context, "count slowly to 100");
      witness.awaitArrivals(20);

      signal(first, "STOP");
      second.awaitErr("takes over");
      second.awaitErr("is active");
      var other = witness.create(second.url());
      witness.send(second.url(), other, "count to 5");
      signal(first, "CONT");

      first.awaitErr("it is a standby node now");
      assertThat(role(second.url())).isEqualTo("active");
      witness.send(first.url(), context, "say hello");
      witness.awaitEnds(first.url());
      witness.holdTo(first.url());
      witness.holdTo(second.url());
    }
  }

  @Test
  void a_server_ends_the_programs_of_its_last_run_also_as_a_standby_server() throws Exception {
    var pidFile = folder.resolve("pid");
    var program =
        "echo $$ > %s.new; mv %s.new %s; exec sleep 600".formatted(pidFile, pidFile, pidFile);
    var config =
        Files.writeString(
            folder.resolve("parley.yaml"),
            "agents: [{id: own, type: cli, cli: jsonl, command: [sh, -c, '" + program + "']}]\n");
    var first = serve("--config", config.toString());
    var second = serve();
    post(first.url(), "/api/contexts", "{\"contextId\":\"c\"}");
    send(first.url(), "c", "wait");
    while (!Files.exists(pidFile)) {
      Thread.onSpinWait();
    }
    var left = ProcessHandle.of(Long.parseLong(Files.readString(pidFile).strip())).orElseThrow();
    first.kill();
    second.awaitErr("is active");
    assertThat(left.isAlive()).isTrue();

    servers.add(RealProcess.serve(folder.resolve("node0"), "--db", database));

    left.onExit().get(60, TimeUnit.SECONDS);
  }

  @Test
  void a_suspended_server_answers_no_request_from_an_old_log() throws Exception {
    var first = serve();
    var second = serve();
    post(second.url(), "/api/contexts", "{\"contextId\":\"c\"}");
    signal(first, "STOP");
    second.awaitErr("is active");
    var task = send(second.url(), "c", "count to 20").get("taskId").asString();
    streamToEnd(second.url(), "c", task);
    var head = get(second.url(), "/api/contexts/c/events").body();
    var position = Json.mapper().readTree(head).get("position").asString();

    try (var waiting = ask(first, "/api/contexts/c/events?after=" + position)) {
      signal(first, "CONT");
      var reply = status(waiting);
      if (reply == null) {
        // The connection was closed when the server learned that it was replaced.
        try (var again = ask(first, "/api/contexts/c/events?after=" + position)) {
          reply = status(again);
        }
      }
      assertThat(reply).isEqualTo("HTTP/1.1 200 OK");
    }
  }

  /// Sends a request, which waits in the system if the server is suspended.
  private static Socket ask(RealProcess server, String path) throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), server.url().getPort());
    var request = "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".formatted(path);
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  /// The first line of a reply; null if the connection was closed without one.
  private static @Nullable String status(Socket socket) throws IOException {
    return new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
        .readLine();
  }

  @Test
  void a_server_that_stops_or_is_drained_hands_its_tasks_over() throws Exception {
    try (var witness = new LogWitness()) {
      var first = serve();
      var second = serve();
      var third = serve();
      var context = witness.create(first.url());
      witness.startWatching(second.url(), context);
      witness.send(second.url(), context, "count slowly to 60");
      witness.awaitArrivals(20);

      assertThat(first.terminate()).isZero();
      // Whichever of the others is active now answers both.
      witness.send(second.url(), context, "say hello");
      var active = cluster(second.url(), "active").getFirst();
      drain(second.url(), active.get("id").asLong());
      var drained =
          active.get("address").asString().equals(second.url().toString()) ? second : third;
      drained.awaitErr("it is a standby node now");
      // Its next number is marked as well.
      awaitDrained(third.url(), drained.url());

      witness.awaitEnds(third.url());
      witness.holdTo(second.url());
      var left = cluster(third.url(), "active").getFirst();
      assertThat(left.get("address").asString()).isNotEqualTo(drained.url().toString());
      assertThat(cluster(third.url(), "standby"))
          .singleElement()
          .matches(node -> node.get("drain").asBoolean());

      var last = "/api/cluster/nodes/" + left.get("id").asLong() + "/drain";
      var refused = post(third.url(), last, "");
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).contains("last-server");
    }
  }

  @Test
  void a_server_that_listens_on_all_addresses_must_name_the_one_that_others_use()
      throws InterruptedException {
    refuse(
        "--node-address http://HOST:PORT",
        "serve",
        "--insecure",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--data",
        folder.resolve("data").toString(),
        "--db",
        database);
  }

  @Test
  void a_log_is_copied_into_a_database_and_back() throws Exception {
    var data = folder.resolve("single");
    String before;
    try (var server = RealProcess.serve(data)) {
      post(server.url(), "/api/contexts", "{\"contextId\":\"c\"}");
      var task = send(server.url(), "c", "count to 20").get("taskId").asString();
      streamToEnd(server.url(), "c", task);
      post(server.url(), "/api/contexts/c/fork", "{\"contextId\":\"fork\",\"atSeq\":5}");
      before = everything(server.url());
      refuse("is in use by process", "import", "--from", data.toString(), "--db", database);
      assertThat(server.terminate()).isZero();
    }
    command("import", "--from", data.toString(), "--db", database);
    refuse("contains a log", "import", "--from", data.toString(), "--db", database);

    var server = serve();
    assertThat(everything(server.url())).isEqualTo(before);
    send(server.url(), "c", "say hello");
    var copy = folder.resolve("copy");
    command("export", "--all", "--db", database, "--to", copy.toString());
    refuse("is not empty", "export", "--all", "--db", database, "--to", copy.toString());
    assertThat(server.terminate()).isZero();

    try (var single = RealProcess.serve(copy)) {
      assertThat(get(single.url(), "/api/contexts/c/messages?limit=10").body())
          .contains("say hello");
      assertThat(get(single.url(), "/api/contexts/fork/events?limit=1000").body())
          .isEqualTo(everything(single.url()).lines().toList().getLast());
    }
  }

  private void command(String... arguments) throws InterruptedException {
    try (var command = RealProcess.run(arguments)) {
      assertThat(command.await()).as(command.err().toString()).isZero();
      assertThat(command.out()).singleElement().asString().startsWith("Copied 2 contexts");
    }
  }

  private static void refuse(String reason, String... arguments) throws InterruptedException {
    try (var command = RealProcess.run(arguments)) {
      assertThat(command.await()).isNotZero();
      assertThat(String.join("\n", command.err())).contains(reason);
    }
  }

  private String everything(URI server) throws IOException, InterruptedException {
    var text = new StringBuilder();
    for (var path :
        List.of(
            "/api/contexts/c",
            "/api/contexts/c/events?limit=1000",
            "/api/contexts/c/snapshot",
            "/api/contexts/fork/events?limit=1000")) {
      text.append(get(server, path).body()).append('\n');
    }
    return text.toString();
  }

  private static void signal(RealProcess server, String name)
      throws IOException, InterruptedException {
    var kill = new ProcessBuilder("kill", "-" + name, Long.toString(server.pid()));
    assertThat(kill.inheritIO().start().waitFor()).isZero();
  }

  private String role(URI server) throws IOException, InterruptedException {
    return Json.mapper()
        .readTree(get(server, "/api/cluster").body())
        .get("nodes")
        .valueStream()
        .filter(node -> node.get("address").asString().equals(server.toString()))
        .map(node -> node.get("role").asString())
        .findFirst()
        .orElse("missing");
  }

  private List<JsonNode> cluster(URI server, String role) throws IOException, InterruptedException {
    return Json.mapper()
        .readTree(get(server, "/api/cluster").body())
        .get("nodes")
        .valueStream()
        .filter(node -> node.get("role").asString().equals(role))
        .toList();
  }

  private void awaitDrained(URI server, URI drained) throws IOException, InterruptedException {
    while (cluster(server, "standby").stream()
        .noneMatch(
            node ->
                node.get("address").asString().equals(drained.toString())
                    && node.get("drain").asBoolean())) {
      Thread.onSpinWait();
    }
  }

  private void drain(URI server, long node) throws InterruptedException {
    try (var command =
        RealProcess.run("cluster", "drain", Long.toString(node), "--url", server.toString())) {
      assertThat(command.await()).as(command.err().toString()).isZero();
      assertThat(String.join("\n", command.out())).contains("drained");
    }
  }

  private JsonNode send(URI server, String context, String text)
      throws IOException, InterruptedException {
    var body = Json.object().put("content", text).toString();
    var accepted = post(server, "/api/contexts/" + context + "/messages", body);
    assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(202);
    return Json.mapper().readTree(accepted.body());
  }

  /// The data of all frames up to the end of a task.
  private List<String> streamToEnd(URI server, String context, String task)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(
                server.resolve("/api/contexts/" + context + "/stream?taskId=" + task + "&after=0"))
            .build();
    try (var lines = http.send(request, BodyHandlers.ofLines()).body()) {
      var frames = new ArrayList<String>();
      for (var line : (Iterable<String>) lines::iterator) {
        if (line.startsWith("data: ") && !line.contains("\"kind\":\"stream-")) {
          frames.add(line);
        }
        if (line.contains("\"kind\":\"task-complete\"") && line.contains(task)) {
          return frames;
        }
      }
      throw new AssertionError("the stream ended before the task: " + frames);
    }
  }

  private String firstFrameOfSocket(URI server) throws Exception {
    var frame = new CompletableFuture<String>();
    var address = URI.create(server.toString().replace("http:", "ws:") + "/api/ws");
    var socket =
        http.newWebSocketBuilder()
            .buildAsync(
                address,
                new WebSocket.Listener() {
                  private final StringBuilder text = new StringBuilder();

                  @Override
                  public CompletionStage<?> onText(
                      WebSocket webSocket, CharSequence data, boolean last) {
                    text.append(data);
                    if (last) {
                      frame.complete(text.toString());
                    }
                    webSocket.request(1);
                    return CompletableFuture.completedStage(null);
                  }
                })
            .get(60, TimeUnit.SECONDS);
    socket.sendText("{\"type\":\"subscribe\",\"contextId\":\"c\",\"after\":0}", true).join();
    try {
      return frame.get(60, TimeUnit.SECONDS);
    } finally {
      socket.abort();
    }
  }

  private HttpResponse<String> get(URI server, String path)
      throws IOException, InterruptedException {
    return http.send(HttpRequest.newBuilder(server.resolve(path)).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(URI server, String path, String body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(server.resolve(path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return http.send(request, BodyHandlers.ofString());
  }
}
