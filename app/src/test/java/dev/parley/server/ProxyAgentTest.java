package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Agents behind a service elsewhere: another Parley, or something that behaves worse.
class ProxyAgentTest extends RemoteServiceTestBed {

  @Test
  void another_parley_works_as_an_agent_here() throws Exception { // AGENT-10
    var there = Files.createDirectories(folder.resolve("far"));
    Files.writeString(there.resolve("a.txt"), "apples");
    try (var far = TestServer.configured(there, "agents: [{id: worker, tools: [files]}]\n");
        var near = near(far.url.toString())) {
      var counted = ended(near, launch(near, "count to 3"));
      assertThat(counted.path("status").asString()).isEqualTo("completed");
      var messages = messages(near, counted.path("id").asString());
      assertThat(deltas(messages)).isEqualTo("1 2 3");
      assertThat(messages.getLast().path("content").asString()).isEqualTo("1 2 3");

      var read = ended(near, launch(near, "read a.txt"));
      assertThat(messages(near, read.path("id").asString()))
          .anyMatch(
              m ->
                  m.path("metadata").path("tool_use").path("name").asString("").equals("read_file"))
          .anyMatch(
              m ->
                  m.path("metadata").has("tool_result")
                      && m.path("content").toString().contains("apples"));

      var failed = ended(near, launch(near, "fail"));
      assertThat(failed.path("status").asString()).isEqualTo("failed");
    }
  }

  @Test
  void a_stream_without_ends_of_blocks_and_without_a_result_is_understood()
      throws Exception { // AGENT-10
    on(
        "/agent/stream",
        exchange ->
            stream(
                exchange,
                line(
                    """
                    {"type":"stream_event","event":{"type":"message_start"}}\
                    """),
                line(
                    """
                    {"type":"stream_event","event":{"type":"content_block_delta",\
                    "delta":{"type":"text_delta","text":"Hello"}}}\
                    """),
                line(
                    """
                    {"type":"stream_event","event":{"type":"message_delta",\
                    "delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}}\
                    """),
                COMPLETE));
    on(
        "/short/agent/stream",
        exchange ->
            stream(
                exchange,
                line(
                    """
                    {"type":"stream_event","event":{"type":"content_block_delta",\
                    "delta":{"type":"text_delta","text":"Hello"}}}\
                    """),
                COMPLETE));
    on("/empty/agent/stream", exchange -> stream(exchange, COMPLETE));
    for (var path : List.of("", "/short")) {
      try (var near = near(url() + path)) {
        var agent = ended(near, launch(near, "hi"));
        assertThat(agent.path("status").asString()).isEqualTo("completed");
        var messages = messages(near, agent.path("id").asString());
        assertThat(messages.getLast().path("content").asString()).isEqualTo("Hello");
        assertThat(messages).noneMatch(m -> m.path("metadata").path("partial").asBoolean(false));
      }
    }
    try (var near = near(url() + "/empty")) {
      assertThat(ended(near, launch(near, "hi")).path("error").path("message").asString())
          .isEqualTo("the service reported success, but sent no text");
    }
  }

  @Test
  void it_decides_about_its_tools_and_may_not_name_its_model() throws Exception { // EVENT-12
    on(
        "/agent/stream",
        exchange ->
            stream(
                exchange,
                HELLO,
                line(
                    """
                    {"type":"stream_event","event":{"type":"message_delta",\
                    "delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}}\
                    """),
                COMPLETE));
    try (var near = near(url())) {
      var chatTestClient = new ChatTestClient(near);
      assertThat(
              chatTestClient
                  .read("/api/agent-types")
                  .path("items")
                  .get(0)
                  .path("toolNames")
                  .toString())
          .isEqualTo("[\"*\"]");
      var sent = chatTestClient.say("hi");
      chatTestClient.follow(sent);

      var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
      assertThat(result.path("modelUsage").propertyNames()).containsExactly("unknown");
      assertThat(result.path("modelUsage").path("unknown").path("outputTokens").asInt())
          .isEqualTo(3);
    }
  }

  @Test
  void stopping_it_here_stops_it_there() throws Exception { // AGENT-9
    var there = Files.createDirectories(folder.resolve("far"));
    try (var far = TestServer.configured(there, "agents: [{id: worker, tools: [files]}]\n");
        var near = near(far.url.toString())) {
      var id = launch(near, "count slowly to 1000");
      ModelInstructions.await(near.log, context(near, id), e -> e.kind() == Kind.CONTENT_DELTA);
      assertThat(near.send(near.request("/api/agents/" + id).DELETE()).statusCode()).isEqualTo(204);
      var remote = json(far.get("/api/agents").body()).get(0);
      assertThat(ended(far, remote.path("id").asString()).path("status").asString())
          .isEqualTo("terminated");
      assertThat(json(near.get("/api/agents/" + id).body()).path("status").asString())
          .isEqualTo("terminated");
    }
  }

  @Test
  void a_plain_service_is_understood_and_its_noise_is_kept()
      throws Exception { // AGENT-21, AGENT-22, AGENT-26
    on(
        "/agent/stream",
        exchange ->
            stream(
                exchange,
                "data: not json\n\n",
                HELLO,
                ": a comment\n\nevent: message\r\ndata: {\"type\":\"rate_limit_event\"}\r\n\r\n",
                RESULT,
                COMPLETE));
    try (var near = near(url())) {
      var agent = ended(near, launch(near, "hi; \"$(touch /tmp/pwned)\""));
      assertThat(agent.path("status").asString()).isEqualTo("completed");
      var id = agent.path("id").asString();
      assertThat(deltas(messages(near, id))).isEqualTo("Hello");
      assertThat(json(near.get("/api/agents/" + id + "/raw").body()).path("items"))
          .extracting(item -> item.path("line").asString())
          .contains("not json", "{\"type\":\"rate_limit_event\"}");
      assertThat(
              json(asked.take().substring("POST /agent/stream ".length()))
                  .path("prompt")
                  .asString())
          .isEqualTo("hi; \"$(touch /tmp/pwned)\"");
    }
  }

  @Test
  void what_ends_without_an_end_or_badly_is_a_failure() throws Exception { // AGENT-4
    on("/dropped/agent/stream", exchange -> stream(exchange, HELLO));
    on(
        "/bad/agent/stream",
        exchange ->
            stream(
                exchange,
                "event: error\ndata: {\"error\":\"no such program\"}\n\n",
                "event: complete\ndata: {\"status\":\"failed\"}\n\n"));
    on(
        "/busy/agent/stream",
        exchange -> {
          exchange.sendResponseHeaders(503, 4);
          exchange.getResponseBody().write("busy".getBytes(StandardCharsets.UTF_8));
        });
    try (var near = near(url() + "/dropped")) {
      var dropped = ended(near, launch(near, "hi"));
      assertThat(dropped.path("status").asString()).isEqualTo("failed");
      assertThat(dropped.path("error").path("name").asString()).isEqualTo("interrupted");
      assertThat(dropped.path("error").path("message").asString())
          .endsWith("it cannot be resumed because its events have no ids");
      assertThat(messages(near, dropped.path("id").asString()))
          .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false));
    }
    try (var near = near(url() + "/bad")) {
      var bad = ended(near, launch(near, "hi"));
      assertThat(bad.path("error").path("message").asString()).isEqualTo("no such program");
    }
    try (var near = near(url() + "/busy")) {
      var busy = ended(near, launch(near, "hi"));
      assertThat(busy.path("error").path("message").asString())
          .isEqualTo("the service answered 503: busy");
    }
    try (var near = near("http://127.0.0.1:1")) {
      var none = ended(near, launch(near, "hi"));
      assertThat(none.path("error").path("message").asString())
          .startsWith("the service cannot be reached");
    }
  }

  @Test
  void a_silent_service_is_given_up_and_told_to_stop() throws Exception { // AGENT-8
    on(
        "/agent/stream",
        exchange -> {
          exchange.getResponseHeaders().add("X-Agent-Id", "r2");
          stream(exchange, HELLO);
          try {
            over.await();
          } catch (InterruptedException told) {
            Thread.currentThread().interrupt();
          }
        });
    on("/agent/stop/r2", exchange -> exchange.sendResponseHeaders(200, -1));
    try (var near = near(url(), "5s")) {
      var agent = ended(near, launch(near, "hi"));
      assertThat(agent.path("status").asString()).isEqualTo("failed");
      assertThat(agent.path("error").path("name").asString()).isEqualTo("timeout");
      assertThat(asked).contains("POST /agent/stop/r2 {}");
    }
  }

  @Test
  void its_lines_are_passed_on_as_they_were_by_the_proxy_here() throws Exception { // AGENT-2
    on(
        "/agent/stream",
        exchange ->
            stream(exchange, "data: {\"type\":\"odd\",  \"n\": 1.0}\n\n", HELLO, RESULT, COMPLETE));
    try (var near = near(url())) {
      var reply = near.post("/agent/stream", "{\"prompt\":\"hi\",\"agent\":\"far\"}").body();
      assertThat(reply)
          .contains("data: {\"type\":\"odd\",  \"n\": 1.0}\n")
          .contains(RESULT.substring(RESULT.indexOf("data:")))
          .contains("\"messageCount\":5");
      assertThat(near.log.withOpenTasks()).isEmpty();
    }
  }

  @Test
  void a_configuration_that_makes_no_sense_is_refused() {
    for (var wrong :
        List.of(
            "{id: x, type: proxy}",
            "{id: x, type: proxy, url: \"ftp://a\"}",
            "{id: x, type: proxy, url: \"http://a\", model: default}")) {
      org.assertj.core.api.Assertions.assertThatThrownBy(
              () -> TestServer.configured(folder, "agents: [" + wrong + "]\n").close())
          .as(wrong)
          .isInstanceOf(dev.parley.protocol.Rejection.Invalid.class);
    }
  }
}
