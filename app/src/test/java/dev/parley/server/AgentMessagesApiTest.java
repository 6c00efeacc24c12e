package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// The messages of agents, over HTTP, with the offline model answering.
class AgentMessagesApiTest extends AgentsApiTestBed {

  @Test
  void an_agent_is_launched_listed_shown_and_has_a_status() throws Exception { // AGENT-42, AGENT-43
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
      throws Exception { // AGENT-35, AGENT-44, AGENT-46
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
        .hasSameSizeAs(messages); // AGENT-97
    for (var message : messages) {
      assertThat(message.propertyNames())
          .contains("id", "agentId", "sequenceNumber", "type", "content", "metadata", "createdAt");
      assertThat(message.path("agentId").asString()).isEqualTo(id);
      assertThat(message.path("type").asString())
          .isIn("assistant", "user", "system", "error", "tool", "response"); // AGENT-83
    }
  }

  @Test
  void since_gives_what_is_strictly_after_and_limit_pages()
      throws Exception { // AGENT-44, AGENT-48, AGENT-49, AGENT-90
    var id = id(launch("agent-code", "count to 700"));
    awaitEnd(id);
    var all = messages(id, "");
    assertThat(all.size()).isGreaterThan(600); // More than two marks.

    for (var since : List.of(0, 1, 3, 255, 256, 257, 511, 512, 600, all.size() - 1, all.size())) {
      assertThat(messages(id, "?since=" + since)).isEqualTo(all.subList(since, all.size()));
    }
    var ahead = site.get("/api/agents/" + id + "/messages?since=" + (all.size() + 5));
    assertThat(ahead.statusCode()).isEqualTo(400);
    assertThat(json(ahead).path("code").asString()).isEqualTo("cursor-ahead");
    assertThat(json(ahead).path("message").asString()).contains("the number " + all.size());
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
  void what_makes_no_sense_is_refused(String query) throws Exception { // AGENT-48
    var id = id(launch("agent-code", "say hi"));
    var refused = site.get("/api/agents/" + id + "/messages?" + query);
    assertThat(refused.statusCode()).isEqualTo(400);
  }

  @Test
  void aggregate_makes_whole_messages_that_can_be_paged_too()
      throws Exception { // AGENT-33, AGENT-75, AGENT-76, AGENT-98
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
  void sub_agents_are_told_apart() throws Exception { // AGENT-77, AGENT-25
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
  void a_tool_is_a_message_and_its_result_another() throws Exception { // AGENT-17
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
  void text_comes_back_as_the_text_it_was(String word) throws Exception { // AGENT-40, AGENT-6
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
  void a_hundred_agents_at_once_have_their_own_numbers() throws Exception { // AGENT-36
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
    assertThat(listed).containsExactlyInAnyOrderElementsOf(ids); // CORE-15
  }

  @Test
  void numbers_stay_over_a_restart_and_over_views_made_anew()
      throws Exception { // AGENT-38, AGENT-85
    var id = id(launch("agent-code", "count to 300"));
    awaitEnd(id);
    var before = messages(id, "");
    site.close();
    Files.delete(folder.resolve("data/views.db"));
    open();
    assertThat(messages(id, "")).isEqualTo(before);
    assertThat(messages(id, "?since=290")).isEqualTo(before.subList(290, before.size()));
  }
}
