package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// What becomes of an agent elsewhere when the connection to it breaks.
class ProxyReconnectTest extends RemoteServiceTestBed {

  @Test
  void a_broken_connection_is_taken_up_where_events_have_ids() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, START, "id: 7\n" + DELTA);
          } else {
            asked.add("after " + exchange.getRequestHeaders().getFirst("Last-Event-ID"));
            stream(exchange, "id: 8\n" + RESULT, COMPLETE);
          }
        });
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(asked).contains("after 7", "GET /agent/stream/r1 ");
    }
  }

  @Test
  void a_service_that_is_away_for_a_while_is_tried_until_it_is_back() throws Exception {
    var tries = new AtomicInteger();
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange);
            return;
          }
          switch (tries.incrementAndGet()) {
            case 1 -> exchange.sendResponseHeaders(503, -1);
            case 2 -> exchange.close(); // Without an answer, as one that is stopped.
            case 3 -> stream(exchange, "id: 6~1\n" + START, "id: 7\n" + DELTA);
            case 4 -> exchange.sendResponseHeaders(502, -1);
            default -> {
              asked.add("after " + exchange.getRequestHeaders().getFirst("Last-Event-ID"));
              stream(exchange, "id: 8\n" + RESULT, COMPLETE);
            }
          }
        });
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(deltas(messages(near, agent.path("id").asString()))).isEqualTo("Hello");
      assertThat(asked).contains("after 7");
    }
  }

  @Test
  void a_service_that_stays_away_is_given_up_in_the_end() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, "id: 7\n" + HELLO);
          } else {
            exchange.sendResponseHeaders(503, -1);
          }
        });
    on("/agent/stop/r1", exchange -> exchange.sendResponseHeaders(200, -1));
    try (var near = near(url(), "3s")) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("failed");
      assertThat(agent.path("error").path("message").asString())
          .isEqualTo("the service answered 503; gave up after 3 s");
    }
  }

  @Test
  void a_service_that_no_longer_knows_the_agent_has_interrupted_it() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, "id: 7\n" + HELLO);
          } else {
            exchange.sendResponseHeaders(404, -1);
          }
        });
    try (var near = near(url())) {
      var id = launch(near, "hi");
      assertThat(ended(near, id).path("status").asString()).isEqualTo("failed");
      var error =
          (ErrorReported)
              ModelInstructions.await(
                      near.log, context(near, id), entry -> entry.event() instanceof ErrorReported)
                  .event();
      assertThat(error.code()).isEqualTo(ErrorCode.INTERRUPTED);
      assertThat(error.retryable()).isTrue();
      assertThat(error.message()).isEqualTo("the service no longer knows the agent: 404");
    }
  }

  @Test
  void a_stream_that_is_taken_up_and_begins_again_is_told_once() throws Exception {
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r1");
          if (exchange.getRequestMethod().equals("POST")) {
            stream(exchange, START, "id: 7\n" + DELTA);
          } else {
            stream(exchange, START, "id: 7\n" + DELTA, "id: 8\n" + DELTA, RESULT, COMPLETE);
          }
        });
    try (var near = near(url())) {
      var id = launch(near, "hi");
      assertThat(ended(near, id).path("status").asString()).isEqualTo("completed");
      assertThat(deltas(messages(near, id))).isEqualTo("HelloHello");
    }
  }

  @Test
  void another_parley_that_is_stopped_and_started_is_taken_up() throws Exception {
    var there = Files.createDirectories(folder.resolve("far"));
    var yaml = "agents: [{id: worker, tools: [files]}]\n";
    var far = TestServer.configured(there, yaml);
    try (var near = near(far.url.toString(), "60s")) {
      var id = launch(near, "count slowly to 20");
      ModelInstructions.await(near.log, context(near, id), e -> e.kind() == Kind.CONTENT_DELTA);
      far.close();
      far = TestServer.configured(there, yaml, far.url.getPort());
      var agent = ended(near, id);
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      assertThat(deltas(messages(near, id))).startsWith("1 2 3").endsWith("19 20");
    } finally {
      far.close();
    }
  }
}
