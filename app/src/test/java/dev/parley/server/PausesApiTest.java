package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Pauses over HTTP, on a server that is restarted meanwhile.
@Timeout(120)
class PausesApiTest {

  private static final String CONFIG = "models: {m: {provider: offline}}\n";

  @TempDir Path folder;

  @Test
  void a_pause_survives_a_restart_and_is_visible_until_it_ends() throws Exception {
    var context = new ContextId("c");
    try (var server = TestServer.configured(folder, CONFIG)) {
      server.context("c");
      assertThat(server.get("/api/status").body()).contains("\"status\":\"ready\"");
      var paused = server.post("/api/pauses", "{\"scope\":\"all\",\"reason\":\"maintenance\"}");
      assertThat(paused.statusCode()).isEqualTo(200);
      assertThat(send(server)).isEqualTo(202);
      assertThat(json(server, "/api/status").path("status").asString()).isEqualTo("paused");
    }
    try (var server = TestServer.configured(folder, CONFIG)) {
      var pause = json(server, "/api/pauses").path("items").path(0);
      assertThat(pause.path("id").asString()).isEqualTo("all");
      assertThat(pause.path("pausedBy").asString()).isEqualTo("local");
      assertThat(pause.path("reason").asString()).isEqualTo("maintenance");
      assertThat(pause.path("waitingTasks").asInt()).isEqualTo(1);
      assertThat(send(server)).isEqualTo(202);
      assertThat(server.log.read(context, Position.START, 100))
          .noneMatch(
              entry ->
                  entry.event() instanceof TaskStatus status
                      && status.status() != null
                      && status.status().wire().equals("working"));

      assertThat(delete(server, "/api/pauses/all")).isEqualTo(200);
      awaitCompleted(server, context, 2);
      assertThat(delete(server, "/api/pauses/all")).isEqualTo(404);
      assertThat(json(server, "/api/pauses").path("items").isEmpty()).isTrue();
    }
  }

  private static int send(TestServer server) {
    return server.post("/api/contexts/c/messages", "{\"content\":\"say hi\"}").statusCode();
  }

  private static JsonNode json(TestServer server, String path) {
    return Json.mapper().readTree(server.get(path).body());
  }

  private static int delete(TestServer server, String path) {
    return server.send(HttpRequest.newBuilder(server.url.resolve(path)).DELETE()).statusCode();
  }

  private static void awaitCompleted(TestServer server, ContextId context, int tasks)
      throws InterruptedException {
    while (true) {
      var entries = server.log.read(context, Position.START, 1_000);
      var completed =
          entries.stream()
              .filter(entry -> entry.event() instanceof TaskComplete)
              .filter(entry -> Objects.requireNonNull(entry.origin()).parentTaskId() == null)
              .count();
      if (completed == tasks) {
        return;
      }
      assertThat(server.log.await(context, entries.getLast().position(), Duration.ofMinutes(1)))
          .isTrue();
    }
  }

  @Test
  void wrong_requests_say_what_is_wrong() throws IOException {
    try (var server = TestServer.configured(folder, CONFIG)) {
      assertThat(server.post("/api/pauses", "{}").body())
          .contains("scope is required: all, tenant, person or agent");
      assertThat(server.post("/api/pauses", "{\"scope\":\"agents\"}").body())
          .contains("must be one of all, tenant, person, agent");
      assertThat(server.post("/api/pauses", "{\"scope\":\"person\"}").body())
          .contains("name the person to pause");
      assertThat(server.post("/api/pauses", "{\"scope\":\"all\",\"target\":\"x\"}").body())
          .contains("a pause of everything has no target");
      var unknown = server.post("/api/pauses", "{\"scope\":\"agent\",\"target\":\"x\"}");
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.body()).contains("there is no agent x; the agents are: ");
    }
  }
}
