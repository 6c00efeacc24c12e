package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// The real program on a disk that becomes full and then has space again (CORE-23).
///
/// The disk is a limit on the size of files, which Linux can lift while the program runs.
@EnabledOnOs(OS.LINUX)
final class DiskFullIT {

  private static final int DISK_KIB = 3_000;
  private static final int CONTEXTS_MAX = 2_000;

  /// Enough for the library of SQLite, which is unpacked to a file, but not for the messages.
  private static final int VIEWS_KIB = 2_000;

  private static final int MESSAGES = 8;
  private static final int MESSAGE_LENGTH = 300_000;

  @TempDir Path data;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void a_full_disk_is_an_error_for_the_caller_and_the_server_goes_on_when_there_is_room()
      throws IOException, InterruptedException {
    var created = new ArrayList<String>();
    try (var server = RealProcess.serveOnSmallDisk(data, DISK_KIB)) {
      var url = server.url();
      var refused = fill(url, created);
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
      assertThat(refused.body()).contains("unavailable").doesNotContain("at dev.parley");
      assertThat(created).hasSizeGreaterThan(3);
      everyEventIsThere(url, created);
      for (var i = 0; i < 20; i++) {
        assertThat(create(url, created).statusCode()).isEqualTo(503);
      }
      assertThat(get(url, "/healthz").statusCode()).isEqualTo(200);
      assertThat(get(url, "/readyz").statusCode()).isEqualTo(503);
      assertThat(get(url, "/readyz").body()).contains("the log cannot be written: ");
      assertThat(get(url, "/metrics").body()).contains("\nparley_log_writable 0\n");
      for (var list :
          List.of("/api/contexts", "/api/inbox", "/api/contexts/" + created.getFirst())) {
        assertThat(get(url, list).statusCode()).as(list).isEqualTo(200);
      }
      assertThat(server.err().stream().filter(line -> line.contains("the log cannot be written")))
          .hasSize(1);
      server.growDisk();
      server.awaitErr("can be written again");
      assertThat(get(url, "/readyz").statusCode()).isEqualTo(200);
      for (var i = 0; i < 5; i++) {
        assertThat(create(url, created).statusCode()).isEqualTo(201);
      }
      everyEventIsThere(url, created);
      server.kill();
    }
    try (var server = RealProcess.serve(data)) {
      everyEventIsThere(server.url(), created);
    }
  }

  @Test
  void reads_are_answered_while_the_views_cannot_be_written()
      throws IOException, InterruptedException {
    var before = new LinkedHashMap<String, String>();
    try (var server = RealProcess.serve(data);
        var logWitness = new LogWitness()) {
      var id = logWitness.create(server.url());
      for (var i = 0; i < MESSAGES; i++) {
        logWitness.send(server.url(), id, i + "x".repeat(MESSAGE_LENGTH));
      }
      logWitness.awaitEnds(server.url());
      for (var path :
          List.of(
              "/api/contexts/" + id,
              "/api/contexts/" + id + "/messages",
              "/api/contexts/" + id + "/tasks",
              "/api/contexts/" + id + "/snapshot",
              "/api/contexts",
              "/chat/conversations/" + id + "/messages")) {
        before.put(path, get(server.url(), path).body());
      }
      assertThat(server.terminate()).isZero();
    }
    Files.delete(data.resolve("views.db"));
    try (var server = RealProcess.serveOnSmallDisk(data, VIEWS_KIB)) {
      for (var read : before.entrySet()) {
        var reply = get(server.url(), read.getKey());
        assertThat(reply.statusCode()).as(read.getKey() + ": " + reply.body()).isEqualTo(200);
        assertThat(reply.body()).as(read.getKey()).isEqualTo(read.getValue());
      }
      assertThat(server.err()).anyMatch(line -> line.contains("the views cannot be written"));
    }
  }

  private HttpResponse<String> get(URI url, String path) throws IOException, InterruptedException {
    return http.send(HttpRequest.newBuilder(url.resolve(path)).build(), BodyHandlers.ofString());
  }

  /// Creates large contexts until the server refuses one.
  private HttpResponse<String> fill(URI url, List<String> created)
      throws IOException, InterruptedException {
    for (var i = 0; i < CONTEXTS_MAX; i++) {
      var reply = create(url, created);
      if (reply.statusCode() != 201) {
        return reply;
      }
    }
    throw new AssertionError("the disk never filled up");
  }

  private HttpResponse<String> create(URI url, List<String> created)
      throws IOException, InterruptedException {
    var id = UUID.randomUUID().toString();
    var body = Json.object().put("contextId", id);
    body.putObject("metadata").put("ballast", "x".repeat(40_000));
    var reply =
        http.send(
            HttpRequest.newBuilder(url.resolve("/api/contexts"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body.toString()))
                .build(),
            BodyHandlers.ofString());
    if (reply.statusCode() == 201) {
      created.add(id);
    }
    return reply;
  }

  private void everyEventIsThere(URI url, List<String> created)
      throws IOException, InterruptedException {
    for (var id : created) {
      var request = HttpRequest.newBuilder(url.resolve("/api/contexts/" + id + "/events")).build();
      var reply = http.send(request, BodyHandlers.ofString());
      assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
      var events = Json.mapper().readTree(reply.body()).get("events");
      assertThat(events.get(0).get("kind").asString()).isEqualTo("context-created");
    }
  }
}
