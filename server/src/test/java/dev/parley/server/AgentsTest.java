package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.TaskId;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// The agents door on the real store, with the offline model answering.
class AgentsTest {

  @TempDir Path folder;
  private Site site;

  @BeforeEach
  void open() {
    site = Site.durable(folder, Site.Wish.USUAL.heartbeat(Duration.ofSeconds(1)));
  }

  @AfterEach
  void close() {
    site.close();
  }

  @Test
  void an_agent_is_launched_listed_shown_and_has_a_status() throws Exception { // S2.42, S2.43
    var launched = launch("agent-code", "count to 3");
    assertThat(launched.statusCode()).isEqualTo(201);
    assertThat(json(launched).propertyNames()).contains("agentId", "status", "createdAt");
    var id = id(launched);
    assertThat(launched.headers().firstValue("Location")).hasValue("/api/agents/" + id);
    awaitEnd(id);

    var shown = json(site.get("/api/agents/" + id));
    assertThat(shown.path("id").asString()).isEqualTo(id);
    assertThat(shown.path("type").asString()).isEqualTo("agent-code");
    assertThat(shown.path("prompt").asString()).isEqualTo("count to 3");
    assertThat(shown.path("status").asString()).isEqualTo("completed");
    assertThat(json(site.get("/api/agents"))).hasSize(1).first().isEqualTo(shown);
    assertThat(json(site.get("/api/agents/active"))).isEmpty();
    assertThat(json(site.get("/api/agents/" + id + "/status")))
        .isEqualTo(tree("{\"agentId\":\"" + id + "\",\"status\":\"completed\"}"));
  }

  @Test
  void messages_are_numbered_from_1_without_holes_and_told_in_order()
      throws Exception { // S2.35, S2.44, S2.46
    var id = id(launch("agent-code", "count to 5"));
    awaitEnd(id);

    var messages = messages(id, "");

    assertThat(numbers(messages)).containsExactlyElementsOf(from(1, messages.size()));
    assertThat(messages.getFirst().path("type").asString()).isEqualTo("user");
    assertThat(messages.getFirst().path("content").asString()).isEqualTo("count to 5");
    assertThat(messages.getLast().path("type").asString()).isEqualTo("response");
    assertThat(messages.getLast().path("content").asString()).isEqualTo("1 2 3 4 5");
    assertThat(messages.getLast().path("metadata").path("status").asString())
        .isEqualTo("completed");
    assertThat(text(messages)).isEqualTo("1 2 3 4 5");
    assertThat(new HashSet<>(messages.stream().map(m -> m.path("id").asString()).toList()))
        .hasSameSizeAs(messages); // S2.97
    for (var message : messages) {
      assertThat(message.propertyNames())
          .contains("id", "agentId", "sequenceNumber", "type", "content", "metadata", "createdAt");
      assertThat(message.path("agentId").asString()).isEqualTo(id);
      assertThat(message.path("type").asString())
          .isIn("assistant", "user", "system", "error", "tool", "response"); // S2.83
    }
  }

  @Test
  void since_gives_what_is_strictly_after_and_limit_pages()
      throws Exception { // S2.44, S2.48, S2.49, S2.90
    var id = id(launch("agent-code", "count to 700"));
    awaitEnd(id);
    var all = messages(id, "");
    assertThat(all.size()).isGreaterThan(600); // More than two marks.

    for (var since : List.of(0, 1, 3, 255, 256, 257, 511, 512, 600, all.size() - 1, all.size())) {
      assertThat(messages(id, "?since=" + since)).isEqualTo(all.subList(since, all.size()));
    }
    assertThat(messages(id, "?since=" + (all.size() + 5))).isEmpty();
    assertThat(messages(id, "?since=300&limit=7")).isEqualTo(all.subList(300, 307));

    var paged = new ArrayList<JsonNode>();
    var next = "/api/agents/" + id + "/messages?limit=100";
    while (next != null) {
      var page = site.get(next);
      json(page).forEach(paged::add);
      assertThat(page.headers().firstValue("X-Total-Count")).hasValue("" + all.size());
      next =
          page.headers()
              .firstValue("Link")
              .map(link -> link.substring(1, link.indexOf('>')))
              .orElse(null);
    }
    assertThat(paged).isEqualTo(all);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"since=-1", "since=x", "since=1.5", "limit=0", "aggregate=maybe", "foo=1"})
  void what_makes_no_sense_is_refused(String query) throws Exception { // S2.48
    var id = id(launch("agent-code", "say hi"));
    var refused = site.get("/api/agents/" + id + "/messages?" + query);
    assertThat(refused.statusCode()).isEqualTo(400);
  }

  @Test
  void an_unknown_agent_is_404_and_a_malformed_id_400_in_both_dialects() { // S2.47, S2.48, S2.37
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
  void aggregate_makes_whole_messages_that_can_be_paged_too()
      throws Exception { // S2.33, S2.75, S2.76, S2.98
    var id = id(launch("agent-code", "count to 20"));
    awaitEnd(id);

    var whole = messages(id, "?aggregate=true");
    var text = whole.stream().filter(m -> m.path("type").asString().equals("assistant")).toList();
    assertThat(text).hasSize(1);
    assertThat(text.getFirst().path("content").asString()).isEqualTo(text(messages(id, "")));
    assertThat(text.getFirst().path("tokenCount").asInt()).isEqualTo(20);
    assertThat(
            text.getFirst().path("sequenceNumber").asInt()
                - text.getFirst().path("firstSequenceNumber").asInt())
        .isEqualTo(19);
    assertThat(
            messages(id, "?aggregate=true&limit=2").size()
                + messages(
                        id,
                        "?aggregate=true&since="
                            + messages(id, "?aggregate=true&limit=2")
                                .getLast()
                                .path("sequenceNumber"))
                    .size())
        .isEqualTo(whole.size());
  }

  @Test
  void sub_agents_are_told_apart() throws Exception { // S2.77, S2.25
    var id = id(launch("agent-code", "delegate count to 3 to agent-data and agent-writer"));
    awaitEnd(id);
    var messages = messages(id, "");
    assertThat(numbers(messages)).containsExactlyElementsOf(from(1, messages.size()));
    var below =
        messages.stream()
            .filter(m -> m.path("metadata").path("subagent").asBoolean(false))
            .toList();
    assertThat(below)
        .extracting(m -> m.path("metadata").path("taskId").asString())
        .hasSizeGreaterThan(1);
    assertThat(
            new HashSet<>(
                below.stream().map(m -> m.path("metadata").path("agentType").asString()).toList()))
        .contains("agent-data", "agent-writer");
    for (var text : messages(id, "?aggregate=true")) {
      if (text.path("metadata").path("subagent").asBoolean(false)
          && text.path("type").asString().equals("assistant")) {
        assertThat(text.path("content").asString()).doesNotContain("1 1", "2 2");
      }
    }
  }

  @Test
  void a_tool_is_a_message_and_its_result_another() throws Exception { // S2.17
    Files.writeString(folder.resolve("a.txt"), "apples");
    var id = id(launch("agent-code", "read a.txt"));
    awaitEnd(id);
    var messages = messages(id, "");
    var use = messages.stream().filter(m -> m.path("type").asString().equals("tool")).toList();
    assertThat(use).hasSize(1);
    var call = use.getFirst().path("metadata").path("tool_use");
    assertThat(call.path("name").asString()).isEqualTo("read_file");
    assertThat(call.path("input").path("path").asString()).isEqualTo("a.txt");
    var result = messages.stream().filter(m -> m.path("metadata").has("tool_result")).toList();
    assertThat(result).hasSize(1);
    assertThat(result.getFirst().path("type").asString()).isEqualTo("user");
    assertThat(result.getFirst().path("metadata").path("tool_result").path("tool_use_id"))
        .isEqualTo(call.path("id"));
    assertThat(result.getFirst().path("content").toString()).contains("apples");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"5", "true", "null", "{\"a\":1}", "\\\"", "\"; touch /tmp/pwned; echo \""})
  void text_comes_back_as_the_text_it_was(String word) throws Exception { // S2.40, S2.6
    var id = id(launch("agent-code", "say " + word));
    awaitEnd(id);
    var messages = messages(id, "");
    assertThat(messages.getFirst().path("content").isString()).isTrue();
    assertThat(messages.getFirst().path("content").asString()).isEqualTo("say " + word);
    assertThat(messages)
        .filteredOn(m -> m.path("type").asString().equals("assistant"))
        .isNotEmpty()
        .allMatch(m -> m.path("content").isString());
    assertThat(text(messages)).isEqualTo(word);
    assertThat(Path.of("/tmp/pwned")).doesNotExist();
  }

  @Test
  void a_hundred_agents_at_once_have_their_own_numbers() throws Exception { // S2.36
    var ids = atOnce(100, i -> id(launch("agent-code", "count to " + (5 + i % 7))));
    assertThat(new HashSet<>(ids)).hasSize(100);
    for (var id : ids) {
      awaitEnd(id);
    }
    for (var i = 0; i < ids.size(); i++) {
      var messages = messages(ids.get(i), "");
      assertThat(numbers(messages)).containsExactlyElementsOf(from(1, messages.size()));
      assertThat(text(messages)).endsWith(" " + (5 + i % 7));
    }
    var listed = new ArrayList<String>();
    var next = "/api/agents?limit=30";
    while (next != null) {
      var page = site.get(next);
      json(page).forEach(agent -> listed.add(agent.path("id").asString()));
      next =
          page.headers()
              .firstValue("Link")
              .map(link -> link.substring(1, link.indexOf('>')))
              .orElse(null);
    }
    assertThat(listed).containsExactlyInAnyOrderElementsOf(ids); // X.15
  }

  @Test
  void numbers_stay_over_a_restart_and_over_views_made_anew() throws Exception { // S2.38, S2.85
    var id = id(launch("agent-code", "count to 300"));
    awaitEnd(id);
    var before = messages(id, "");
    site.close();
    Files.delete(folder.resolve("views.db"));
    open();
    assertThat(messages(id, "")).isEqualTo(before);
    assertThat(messages(id, "?since=290")).isEqualTo(before.subList(290, before.size()));
  }

  @Test
  void a_session_goes_on_and_each_agent_counts_for_itself() throws Exception { // S2.52, X.2
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
  void configuration_is_honoured_or_refused() throws Exception { // S2.52
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
  void an_agent_is_stopped_once_and_stays_readable() throws Exception { // S2.45, S2.51
    var id = id(launch("agent-code", "count slowly to 1000"));
    Orders.await(site.log, context(id), e -> e.event().kind() == Kind.CONTENT_DELTA);
    assertThat(delete("/api/agents/" + id + "/delete").statusCode()).isEqualTo(409);

    assertThat(delete("/api/agents/" + id).statusCode()).isEqualTo(204);

    assertThat(json(site.get("/api/agents/" + id)).path("status").asString())
        .isEqualTo("terminated");
    var messages = messages(id, "");
    assertThat(messages.getLast().path("metadata").path("status").asString())
        .isEqualTo("terminated");
    assertThat(messages) // S2.34
        .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false));
    assertThat(messages(id, "?aggregate=true"))
        .anyMatch(m -> m.path("metadata").path("partial").asBoolean(false) && m.has("tokenCount"));
    var again = delete("/api/agents/" + id);
    assertThat(again.statusCode()).isEqualTo(409);
    assertThat(json(again).path("code").asString()).isEqualTo("agent-ended");
    assertThat(delete("/api/agents/" + id + "?force=true").statusCode()).isEqualTo(204);
  }

  @Test
  void a_deleted_agent_is_gone_with_its_messages() throws Exception { // S2.50, S2.82
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
  void what_waits_is_in_the_queue_and_can_be_taken_out() throws Exception { // S2.50
    var running = id(launch("agent-code", "count slowly to 1000"));
    var session = json(site.get("/api/agents/" + running)).path("session").path("id").asString();
    var waiting =
        id(
            site.post(
                "/api/agents",
                body("agent-code", "say hi", "{\"sessionId\":\"" + session + "\"}")));
    Orders.await(site.log, context(running), e -> e.event().kind() == Kind.CONTENT_DELTA);

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
  void providers_are_what_can_be_launched() { // S2.50
    assertThat(json(site.get("/api/providers")).path("providers"))
        .extracting(p -> p.path("type").asString())
        .contains("supervisor", "agent-code");
  }

  @Test
  void the_same_key_launches_once() { // X.7
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
  void a_failed_agent_says_why() throws Exception { // S2.83
    var id = id(launch("agent-code", "fail"));
    awaitEnd(id);
    var messages = messages(id, "");
    assertThat(messages).anyMatch(m -> m.path("type").asString().equals("error"));
    assertThat(messages.getLast().path("metadata").path("status").asString()).isEqualTo("failed");
    assertThat(json(site.get("/api/agents/" + id)).path("error").path("message").asString())
        .isNotEmpty();
  }

  private ContextId context(String agent) {
    return new ContextId(
        json(site.get("/api/agents/" + agent)).path("session").path("id").asString());
  }

  private void awaitEnd(String agent) throws InterruptedException {
    var task = new TaskId(agent);
    Orders.await(
        site.log,
        context(agent),
        entry ->
            task.equals(entry.taskId())
                && (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskComplete
                    || (entry.event() instanceof dev.parley.protocol.TaskEvent.TaskStatus status
                        && status.status().terminal()
                        && status.status() != dev.parley.protocol.TaskState.COMPLETED)));
  }

  private HttpResponse<String> launch(String type, String prompt) {
    return site.post("/api/agents", body(type, prompt, "{}"));
  }

  private static String body(String type, String prompt, String configuration) {
    var body = Json.object().put("type", type).put("prompt", prompt);
    body.set("configuration", tree(configuration));
    return body.toString();
  }

  private List<JsonNode> messages(String agent, String query) {
    var reply = site.get("/api/agents/" + agent + "/messages" + query);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return json(reply).valueStream().toList();
  }

  private static List<Long> numbers(List<JsonNode> messages) {
    return messages.stream().map(m -> m.path("sequenceNumber").asLong()).toList();
  }

  private static List<Long> from(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  private static String text(List<JsonNode> messages) {
    return messages.stream()
        .filter(m -> m.path("metadata").path("eventType").asString("").equals("content_delta"))
        .filter(m -> !m.path("metadata").path("subagent").asBoolean(false))
        .map(m -> m.path("content").asString())
        .reduce("", String::concat);
  }

  private interface Making {
    String make(int i) throws Exception;
  }

  private static List<String> atOnce(int count, Making making) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Stream<Callable<String>> calls =
          IntStream.range(0, count).mapToObj(i -> () -> making.make(i));
      var made = new ArrayList<String>();
      for (var future : threads.invokeAll(calls.toList())) {
        made.add(future.get());
      }
      return made;
    }
  }

  private HttpResponse<String> delete(String path) {
    return site.send(site.request(path).DELETE());
  }

  private static String id(HttpResponse<String> launched) {
    assertThat(launched.statusCode()).as(launched.body()).isEqualTo(201);
    return json(launched).path("agentId").asString();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    return tree(reply.body());
  }

  private static JsonNode tree(String json) {
    return Json.mapper().readTree(json);
  }
}
