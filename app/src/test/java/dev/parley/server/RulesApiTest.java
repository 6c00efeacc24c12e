package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Rules of "always allow" over HTTP, on a server that is restarted meanwhile.
@Timeout(120)
class RulesApiTest {

  private static final String CONFIG =
      """
      models: {m: {provider: offline}}
      agents: [{id: one, model: m, description: does everything, tools: [write_file]}]
      """;
  private static final ContextId CONTEXT = new ContextId("c");

  @TempDir Path folder;

  @Test
  void a_rule_survives_a_restart_and_ends_when_it_is_revoked() throws Exception {
    try (var server = TestServer.configured(folder, CONFIG)) {
      server.context("c");
      send(server);
      var asked = await(server, entry -> entry.event() instanceof InputRequired).getFirst();
      var input = ((InputRequired) asked.event()).inputId();
      var answer = "{\"value\":{\"approved\":true,\"remember\":{\"scope\":\"everywhere\"}}}";
      assertThat(server.post("/api/contexts/c/inputs/" + input, answer).statusCode())
          .isEqualTo(202);
      await(server, entry -> entry.event() instanceof ToolStart);
    }
    try (var server = TestServer.configured(folder, CONFIG)) {
      var rule = rules(server).path(0);
      assertThat(rule.path("owner").asString()).isEqualTo("local");
      assertThat(rule.path("tool").asString()).isEqualTo("write_file");
      assertThat(rule.path("scope").asString()).isEqualTo("everywhere");
      var id = rule.path("id").asString();

      send(server);
      await(
          server,
          entry ->
              entry.event() instanceof ToolStart start
                  && start.facts().rule().filter(id::equals).isPresent());

      assertThat(delete(server, "/api/rules/" + id)).isEqualTo(200);
      assertThat(delete(server, "/api/rules/" + id)).isEqualTo(404);
      assertThat(rules(server).isEmpty()).isTrue();
      var before = server.log.head(CONTEXT);
      send(server);
      await(
          server,
          entry -> entry.position().after(before) && entry.event() instanceof InputRequired);
    }
  }

  private static void send(TestServer server) {
    var message = "{\"content\":\"write hello to note.txt\"}";
    assertThat(server.post("/api/contexts/c/messages", message).statusCode()).isEqualTo(202);
  }

  private static JsonNode rules(TestServer server) {
    return Json.mapper().readTree(server.get("/api/rules").body()).path("items");
  }

  private static int delete(TestServer server, String path) {
    return server.send(HttpRequest.newBuilder(server.url.resolve(path)).DELETE()).statusCode();
  }

  /// The entries that are wanted, of which there is at least one.
  private static List<Entry> await(TestServer server, Predicate<Entry> wanted)
      throws InterruptedException {
    while (true) {
      var entries = server.log.read(CONTEXT, Position.START, 1_000);
      var found = entries.stream().filter(wanted).toList();
      if (!found.isEmpty()) {
        return found;
      }
      assertThat(server.log.await(CONTEXT, entries.getLast().position(), Duration.ofMinutes(1)))
          .isTrue();
    }
  }
}
