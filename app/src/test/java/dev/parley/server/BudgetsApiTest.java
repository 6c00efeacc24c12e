package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Budgets of a whole server, over HTTP and across a restart.
@Timeout(120)
class BudgetsApiTest {

  private static final String CONFIG =
      """
      models: {m: {provider: offline}}
      agents: [{id: one, model: m, description: does everything}]
      budgets:
        - {name: tasks, per: person, tasks: 2, period: month}
        - {name: requests, requests: 8, streams: 1, period: month}
      """;

  @TempDir Path folder;

  @Test
  void what_is_used_survives_a_restart_and_a_deleted_context() throws Exception {
    try (var server = TestServer.configured(folder, CONFIG)) {
      server.context("c");
      server.context("d");
      complete(server, "c", "POST 1");
      assertThat(used(server, "tasks")).isEqualTo(1);
      var delete = HttpRequest.newBuilder(server.url.resolve("/api/contexts/c")).DELETE();
      assertThat(server.send(delete).statusCode()).isEqualTo(204);
      assertThat(used(server, "requests")).isEqualTo(2);
    }
    try (var server = TestServer.configured(folder, CONFIG)) {
      assertThat(used(server, "tasks")).isEqualTo(1);
      complete(server, "d", "POST 2");
      var refused = send(server, "d", "POST 3");
      assertThat(refused).contains("\"status\":429", "budget-exceeded");
      assertThat(refused).contains("the budget tasks of local has used 2 of 2 tasks this month");
      assertThat(server.get("/metrics").body())
          .contains("parley_budget_used_percent{budget=\"tasks/local/tasks\"} 100");

      var stream = "/api/contexts/d/stream?after=0";
      server.stream(stream).close();
      assertThat(server.get(stream).body()).contains("used 1 of 1 streams");
      // The stream that was rejected was a request, too.
      assertThat(used(server, "requests")).isEqualTo(6);
      server.get("/api/contexts");
      server.get("/api/contexts");
      assertThat(server.get("/api/contexts").body()).contains("used 8 of 8 requests");
      assertThat(server.get("/api/budgets").statusCode()).isEqualTo(200);
    }
  }

  private static String send(TestServer server, String context, String text) {
    return server
        .post("/api/contexts/" + context + "/messages", "{\"content\":\"say " + text + "\"}")
        .body();
  }

  private static void complete(TestServer server, String context, String text)
      throws InterruptedException {
    var id = new ContextId(context);
    assertThat(send(server, context, text)).contains("taskId");
    while (true) {
      var entries = server.log.read(id, Position.START, 1_000);
      if (entries.stream()
          .filter(entry -> entry.event() instanceof TaskComplete)
          .anyMatch(entry -> Objects.requireNonNull(entry.origin()).parentTaskId() == null)) {
        return;
      }
      assertThat(server.log.await(id, entries.getLast().position(), Duration.ofMinutes(1)))
          .isTrue();
    }
  }

  private static int used(TestServer server, String budget) {
    var items = Json.mapper().readTree(server.get("/api/budgets").body()).path("items");
    for (JsonNode item : items) {
      if (item.path("name").asString().equals(budget)
          && item.path("resource").asString().equals(budget)) {
        return item.path("used").asInt();
      }
    }
    return 0;
  }

  @Test
  void a_wrong_budget_is_explained() {
    assertThat(problem("- {tokens: 1}")).contains("budgets[0].name: a name is needed");
    assertThat(problem("- {name: a}")).contains("a limit is needed: tokens, dollars");
    assertThat(problem("- {name: a, tokens: 0}"))
        .contains("budgets[0].tokens: must be more than 0");
    assertThat(problem("- {name: a, per: user, tokens: 1}"))
        .contains("must be one of all, person, key, tenant, agent");
    assertThat(problem("- {name: a, per: agent, requests: 1}"))
        .contains("is not possible for agents");
    assertThat(problem("- {name: a, tasks: 1, warnPercent: 101}")).contains("between 1 and 100");
    assertThat(problem("- {name: a, tasks: 1}\n  - {name: a, tasks: 2}"))
        .contains("budgets[1].name: another budget has the name a");
  }

  private String problem(String budgets) {
    var thrown = new String[1];
    assertThatThrownBy(
            () ->
                TestServer.configured(
                        folder, "models: {m: {provider: offline}}\nbudgets:\n  " + budgets)
                    .close())
        .isInstanceOf(Rejection.Invalid.class)
        .satisfies(rejection -> thrown[0] = rejection.getMessage());
    return thrown[0];
  }
}
