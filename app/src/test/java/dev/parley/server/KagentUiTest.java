package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.server.A2aTestClient.Frame;
import dev.parley.server.KagentPage.AgentCall;
import dev.parley.server.KagentPage.Approval;
import dev.parley.server.KagentPage.KagentText;
import dev.parley.server.KagentPage.KagentToolCall;
import dev.parley.server.KagentPage.Question;
import dev.parley.server.KagentPage.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/// What a person sees who talks to our agents with kagent's own page (SESSION-14, SESSION-61, SESSION-63).
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KagentUiTest {

  private static final String YAML =
      """
      agents:
        - {id: helper, description: Helps, tools: [shell, files, ask_user, "agent:agent-below", "agent:beside"]}
        - {id: agent-below, description: Works below, tools: [shell]}
        - {id: beside, description: Works beside}
      approvals: {a2aCallers: [local]}
      """;

  private TestServer testServer;
  private A2aTestClient peer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, YAML);
    peer = A2aTestClient.ofKagent(testServer, "helper");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private List<Frame> say(KagentPage page, String id, String text) throws IOException {
    return send(page, peer.say(id, text));
  }

  private List<Frame> send(KagentPage page, ObjectNode params) throws IOException {
    var frames = peer.stream(peer.streaming(), params);
    frames.forEach(frame -> page.take(frame.result()));
    return frames;
  }

  /// What the page sends when a person has decided about what the task asks.
  private ObjectNode decision(List<Frame> asked, String id, String data) {
    var task = asked.getFirst().result().path("id").asString();
    var params = A2aTestClient.in(peer.say(id, ""), "taskId", task);
    var part = Json.object().put("kind", "data");
    part.set("data", Json.mapper().readTree(data));
    ((ObjectNode) params.path("message")).putArray("parts").add(part);
    return params;
  }

  @Test
  void text_is_shown_while_it_is_written_and_once_at_the_end() throws IOException {
    var page = new KagentPage();

    var frames = say(page, "text-1", "count to 5");

    assertThat(page.lives).hasSizeGreaterThan(3).endsWith("").allMatch("1 2 3 4 5"::startsWith);
    assertThat(page.all(KagentText.class)).containsExactly(new KagentText("1 2 3 4 5"));
    assertThat(page.ready).isTrue();
    var task = frames.getFirst().result().path("id").asString();
    assertThat(A2aTestClient.text(peer.result(peer.getting(), A2aTestClient.id(task))))
        .isEqualTo("1 2 3 4 5");
  }

  @Test
  void a_page_that_comes_back_in_the_middle_shows_the_whole_text_once() throws IOException {
    var all = say(new KagentPage(), "text-2", "count to 6");
    var task = all.getFirst().result().path("id").asString();
    var middle = all.get(all.size() / 2).id();
    var page = new KagentPage();

    for (var frame :
        peer.stream(peer.subscribing(), A2aTestClient.id(task), "Last-Event-ID", middle)) {
      page.take(frame.result());
    }

    assertThat(page.all(KagentText.class)).containsExactly(new KagentText("1 2 3 4 5 6"));
    assertThat(page.ready).isTrue();
  }

  @Test
  void clients_that_heed_append_get_the_same_text() throws IOException {
    var text = new StringBuilder();
    for (var frame : say(new KagentPage(), "text-3", "count to 4")) {
      var update = frame.result();
      if (update.has("artifact")) {
        text.setLength(update.path("append").asBoolean(false) ? text.length() : 0);
        text.append(update.path("artifact").path("parts").get(0).path("text").asString());
      }
    }

    assertThat(text.toString()).isEqualTo("1 2 3 4");
  }

  @Test
  void a_tool_is_approved_on_its_card_and_then_shown_with_its_result() throws IOException {
    var page = new KagentPage();
    var asked = say(page, "tool-1", "run echo kagent");
    var approval = page.all(Approval.class).getFirst();
    assertThat(approval.tool()).isEqualTo("shell");
    assertThat(approval.arguments().path("command").asString()).isEqualTo("echo kagent");
    assertThat(approval.subagent()).isEmpty();
    assertThat(page.cards).hasSize(1);

    var batch = "{'decision_type':'batch','decisions':{'%s':'approve'}}";
    send(page, decision(asked, "tool-2", batch.replace('\'', '"').formatted(approval.callId())));

    assertThat(page.all(KagentToolCall.class))
        .containsExactly(new KagentToolCall(approval.callId(), "shell"));
    var result = page.all(Result.class).getFirst();
    assertThat(result.id()).isEqualTo(approval.callId());
    assertThat(result.text()).contains("kagent");
    assertThat(page.all(KagentText.class))
        .singleElement()
        .matches(one -> one.text().contains("kagent"));
  }

  @Test
  void a_question_is_answered_on_its_card() throws IOException {
    var page = new KagentPage();
    var asked = say(page, "ask-1", "ask me which day");
    assertThat(page.all(Question.class)).singleElement().matches(q -> q.text().contains("day"));

    var answer = "{'decision_type':'approve','ask_user_answers':[{'answer':['monday']}]}";
    send(page, decision(asked, "ask-2", answer.replace('\'', '"')));

    assertThat(page.all(KagentText.class))
        .singleElement()
        .matches(one -> one.text().contains("monday"));
  }

  @Test
  void a_call_of_one_agent_is_shown_as_that_agent() throws IOException {
    var page = new KagentPage();

    say(page, "one-1", "delegate count to 3 to agent-below");

    var agent = page.all(AgentCall.class);
    assertThat(agent).singleElement().matches(one -> one.name().equals("default/agent-below"));
    assertThat(page.all(KagentToolCall.class)).isEmpty();
    var result = page.all(Result.class).getFirst();
    assertThat(result.id()).isEqualTo(agent.getFirst().id());
    assertThat(result.session()).isEqualTo(agent.getFirst().session());
    assertThat(new KagentTestClient(testServer).conversation(result.session()))
        .last()
        .isEqualTo("1 2 3");
  }

  @Test
  void each_agent_of_a_batch_has_a_card_a_session_and_a_result() throws IOException {
    var page = new KagentPage();

    var frames = say(page, "batch-1", "delegate count to 3 to agent-below and beside");

    var agents = page.all(AgentCall.class);
    assertThat(agents)
        .extracting(AgentCall::name)
        .containsExactlyInAnyOrder("default/agent-below", "default/beside");
    assertThat(agents).extracting(AgentCall::session).doesNotHaveDuplicates().doesNotContain("");
    for (var agent : agents) {
      assertThat(page.all(Result.class))
          .filteredOn(result -> result.id().equals(agent.id()))
          .singleElement()
          .matches(result -> result.session().equals(agent.session()))
          .matches(result -> result.text().equals("1 2 3"));
      assertThat(new KagentTestClient(testServer).conversation(agent.session()))
          .last()
          .isEqualTo("1 2 3");
    }
    // A page that is loaded afterwards sees the same.
    var loaded = new KagentPage();
    var session = frames.getFirst().result().path("contextId").asString();
    for (var message : new KagentTestClient(testServer).tasks(session).path(0).path("history")) {
      var update = Json.object().put("kind", "status-update");
      update.putObject("status").put("state", "working").set("message", message);
      loaded.take(update);
    }
    assertThat(loaded.all(AgentCall.class)).isEqualTo(agents);
    // Others find all sessions on the call itself.
    var sessions = new ArrayList<String>();
    frames.forEach(
        frame ->
            frame.result().findValues("kagent_subagent_session_ids").stream()
                .flatMap(ids -> ids.valueStream())
                .forEach(id -> sessions.add(id.asString())));
    assertThat(sessions)
        .containsExactlyElementsOf(agents.stream().map(AgentCall::session).toList());
  }

  @Test
  void what_an_agent_below_wants_to_do_is_approved_with_its_name() throws IOException {
    var page = new KagentPage();
    var asked = say(page, "nested-1", "delegate run echo deep to agent-below");
    var approval = page.all(Approval.class).getFirst();
    assertThat(approval.subagent()).isEqualTo("agent-below");
    assertThat(approval.arguments().path("command").asString()).isEqualTo("echo deep");

    send(page, decision(asked, "nested-2", "{\"decision_type\":\"approve\"}"));

    assertThat(page.ready).isTrue();
    assertThat(page.all(Result.class).getLast().text()).contains("deep");
  }
}
