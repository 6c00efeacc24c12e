package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What can be done to agents, over HTTP, with the offline model answering.
class AgentControlTest extends AgentsApiTestBed {

  @Test
  void an_unknown_agent_is_404_and_a_malformed_id_400_in_both_dialects() { // AGENT-47, AGENT-48,
    // AGENT-37
    for (var path : List.of("", "/status", "/messages", "/raw")) {
      var unknown = site.get("/api/agents/nobody" + path);
      assertThat(unknown.statusCode()).as(path).isEqualTo(404);
      assertThat(json(unknown).path("statusCode").asInt()).isEqualTo(404);
      assertThat(json(unknown).path("error").asString()).isEqualTo("Not Found");
      assertThat(json(unknown).path("message").asString()).isEqualTo("no such agent: nobody");
      assertThat(json(unknown).path("code").asString()).isEqualTo("not-found");
      assertThat(site.get("/api/agents/n%20o" + path).statusCode()).as(path).isEqualTo(400);
    }
    assertThat(delete("/api/agents/nobody").statusCode()).isEqualTo(404);
    assertThat(delete("/api/agents/nobody/delete").statusCode()).isEqualTo(404);
    assertThat(delete("/api/agents/queue/nobody").statusCode()).isEqualTo(404);
  }

  @Test
  void a_session_goes_on_and_each_agent_counts_for_itself() throws Exception { // AGENT-52, CORE-2
    var first = id(launch("agent-code", "say one"));
    awaitEnd(first);
    var session = json(site.get("/api/agents/" + first)).path("session").path("id").asString();
    var second =
        id(
            site.post(
                "/api/agents",
                body("agent-code", "say two", "{\"sessionId\":\"" + session + "\"}")));
    awaitEnd(second);
    assertThat(second).isNotEqualTo(first);
    assertThat(numbers(messages(first, ""))).startsWith(1L).doesNotHaveDuplicates();
    assertThat(numbers(messages(second, "")))
        .containsExactlyElementsOf(from(1, messages(second, "").size()));
    assertThat(text(messages(first, ""))).isEqualTo("one");
    assertThat(text(messages(second, ""))).isEqualTo("two");
    assertThat(json(site.get("/api/contexts/" + session + "/messages")).path("items")).hasSize(4);
    var unknown = site.post("/api/agents", body("agent-code", "x", "{\"sessionId\":\"nowhere\"}"));
    assertThat(unknown.statusCode()).isEqualTo(404);
  }

  @Test
  void configuration_is_honoured_or_refused() throws Exception { // AGENT-52
    var named =
        site.post(
            "/api/agents",
            body(
                "agent-code",
                "say hi",
                "{\"conversationName\":\"My talk\",\"metadata\":{\"k\":1}}"));
    var shown = json(site.get("/api/agents/" + id(named)));
    assertThat(shown.path("conversationName").asString()).isEqualTo("My talk");
    assertThat(shown.path("metadata").path("k").asInt()).isEqualTo(1);
    var before = json(site.get("/api/contexts")).path("items").size();
    for (var refused :
        List.of(
            "{\"conversationName\":\"" + "x".repeat(101) + "\"}",
            "{\"model\":\"opus\"}",
            "{\"allowedTools\":[\"Bash\"]}",
            "{\"disallowedTools\":[\"Bash\"]}",
            "{\"customArgs\":[\"--yes\"]}",
            "{\"instructions\":\"be brief\"}",
            "{\"mcp\":{\"servers\":[]}}",
            "{\"mcp\":{\"servers\":[\"x\"]}}",
            "{\"mcp\":{\"servers\":[{\"command\":\"rm\"}]}}",
            "{\"outputFormat\":\"text\"}",
            "{\"timeout\":-1}",
            "{\"workingDirectory\":\"/nowhere\"}")) {
      var reply = site.post("/api/agents", body("agent-code", "say hi", refused));
      assertThat(reply.statusCode()).as(refused).isEqualTo(400);
    }
    assertThat(json(site.get("/api/contexts")).path("items")).hasSize(before);
    var unknown = site.post("/api/agents", "{\"type\":\"nobody\",\"prompt\":\"hi\"}");
    assertThat(unknown.statusCode()).isEqualTo(400);
    assertThat(json(unknown).path("message").asString()).contains("agent-code", "supervisor");
    assertThat(site.post("/api/agents", "{\"type\":\"agent-code\"}").statusCode()).isEqualTo(400);
    assertThat(site.post("/api/agents", "{\"prompt\":\"hi\"}").statusCode()).isEqualTo(400);
  }

  @Test
  void an_agent_is_stopped_once_and_stays_readable() throws Exception { // AGENT-45, AGENT-51
    var id = id(launch("agent-code", "count slowly to 1000"));
    ModelInstructions.await(site.log, context(id), e -> e.kind() == Kind.CONTENT_DELTA);
    assertThat(delete("/api/agents/" + id + "/delete").statusCode()).isEqualTo(409);

    assertThat(delete("/api/agents/" + id).statusCode()).isEqualTo(204);

    assertThat(json(site.get("/api/agents/" + id)).path("status").asString())
        .isEqualTo("terminated");
    var messages = messages(id, "");
    assertThat(messages.getLast().path("metadata").path("status").asString())
        .isEqualTo("terminated");
    assertThat(messages) // AGENT-34
        .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false));
    assertThat(messages(id, "?aggregate=true"))
        .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false) && m.has("tokenCount"));
    var again = delete("/api/agents/" + id);
    assertThat(again.statusCode()).isEqualTo(409);
    assertThat(json(again).path("code").asString()).isEqualTo("agent-ended");
    assertThat(delete("/api/agents/" + id + "?force=true").statusCode()).isEqualTo(204);
  }

  @Test
  void a_deleted_agent_is_gone_with_its_messages() throws Exception { // AGENT-50, AGENT-82
    var id = id(launch("agent-code", "say hi"));
    awaitEnd(id);
    var session = json(site.get("/api/agents/" + id)).path("session").path("id").asString();
    var other =
        id(
            site.post(
                "/api/agents",
                body("agent-code", "say ho", "{\"sessionId\":\"" + session + "\"}")));
    awaitEnd(other);
    assertThat(delete("/api/agents/" + id + "/delete").statusCode()).isEqualTo(409);
    assertThat(delete("/api/agents/" + id + "/delete?force=true").statusCode()).isEqualTo(204);
    assertThat(site.get("/api/agents/" + id).statusCode()).isEqualTo(404);
    assertThat(site.get("/api/agents/" + other + "/messages").statusCode()).isEqualTo(404);
    assertThat(json(site.get("/api/agents"))).isEmpty();
  }

  @Test
  void what_waits_is_in_the_queue_and_can_be_taken_out() throws Exception { // AGENT-50
    var running = id(launch("agent-code", "count slowly to 1000"));
    var session = json(site.get("/api/agents/" + running)).path("session").path("id").asString();
    var waiting =
        id(
            site.post(
                "/api/agents",
                body("agent-code", "say hi", "{\"sessionId\":\"" + session + "\"}")));
    ModelInstructions.await(site.log, context(running), e -> e.kind() == Kind.CONTENT_DELTA);

    var queue = json(site.get("/api/agents/queue"));
    assertThat(queue.path("queueLength").asInt()).isEqualTo(1);
    assertThat(queue.path("requests").get(0).path("requestId").asString()).isEqualTo(waiting);
    assertThat(json(site.get("/api/agents/" + waiting + "/status")).path("status").asString())
        .isEqualTo("initializing");
    assertThat(json(site.get("/api/agents/active"))).hasSize(2);
    assertThat(json(site.get("/api/health")).path("activeAgents").asInt()).isEqualTo(2);

    assertThat(delete("/api/agents/queue/" + running).statusCode()).isEqualTo(409);
    assertThat(delete("/api/agents/queue/" + waiting).statusCode()).isEqualTo(204);
    assertThat(json(site.get("/api/agents/queue")).path("queueLength").asInt()).isZero();
    assertThat(json(site.get("/api/agents/" + waiting)).path("status").asString())
        .isEqualTo("terminated");
    assertThat(delete("/api/agents/" + running).statusCode()).isEqualTo(204);
  }

  @Test
  void providers_are_what_can_be_launched() { // AGENT-50
    assertThat(json(site.get("/api/providers")).path("providers"))
        .extracting(p -> p.path("type").asString())
        .contains("supervisor", "agent-code");
  }

  @Test
  void a_key_whose_launch_was_refused_can_be_used_again() throws Exception {
    var refused =
        site.post(
            "/api/agents",
            body("agent-code", "x".repeat(1_000_001), "{}"),
            "Idempotency-Key",
            "once-more");
    assertThat(refused.statusCode()).isEqualTo(413);
    var body = body("agent-code", "say hi", "{}");
    id(site.post("/api/agents", body, "Idempotency-Key", "once-more"));
  }

  @Test
  void the_same_key_launches_once() { // CORE-7
    var body = body("agent-code", "say hi", "{}");
    var first = site.post("/api/agents", body, "Idempotency-Key", "k");
    var again = site.post("/api/agents", body, "Idempotency-Key", "k");
    assertThat(id(again)).isEqualTo(id(first));
    assertThat(json(site.get("/api/agents"))).hasSize(1);
    var other = site.post("/api/agents", body("agent-code", "x", "{}"), "Idempotency-Key", "k");
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(json(site.get("/api/agents"))).hasSize(1);
  }

  @Test
  void a_failed_agent_says_why() throws Exception { // AGENT-83
    var id = id(launch("agent-code", "fail"));
    awaitEnd(id);
    var messages = messages(id, "");
    assertThat(messages).anyMatch(m -> m.path("type").asString().equals("error"));
    assertThat(messages.getLast().path("metadata").path("status").asString()).isEqualTo("failed");
    assertThat(json(site.get("/api/agents/" + id)).path("error").path("message").asString())
        .isNotEmpty();
  }
}
