package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.TaskEvent.TaskComplete;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Runs of every shape through the AG-UI API. Each is checked against the rules of the protocol.
class AgUiRunsTest extends AgUiFixture {

  @Test
  void a_text_is_streamed_piece_by_piece() throws IOException {
    var app = app("agent-code");
    var run = app.say("count to 3");

    assertThat(run.types())
        .containsExactly(
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED");
    assertThat(run.text()).isEqualTo("1 2 3");
    var started = run.one("RUN_STARTED");
    assertThat(started.path("threadId").asString()).isEqualTo(thread);
    assertThat(started.path("runId").asString()).isEqualTo(run.runId());
    assertThat(started.path("protocolVersion").asString()).isEqualTo("1.0");
    assertThat(started.path("input").path("messages").path(0)).isEqualTo(app.messages.get(0));
    assertThat(run.outcome().path("type").asString()).isEqualTo("success");
    assertThat(run.last().path("result").asString()).isEqualTo("1 2 3");
    assertThat(run.last().path("usage").path(0).path("model").asString()).isEqualTo("offline");
    assertThat(run.frames()).allMatch(frame -> frame.id() != null && frame.event() == null);
    assertThat(run.frames().stream().map(frame -> frame.id()).distinct()).hasSize(7);
  }

  @Test
  void the_message_keeps_the_id_that_the_application_gave_it() throws IOException {
    var app = app("agent-code");
    app.say("say hello");

    var id = app.messages.path(0).path("id").asString();
    assertThat(testServer.get("/api/contexts/" + thread + "/messages/" + id).statusCode())
        .isEqualTo(200);
  }

  @Test
  void thoughts_are_reasoning_that_is_closed_before_the_text() throws IOException {
    var run = app("agent-code").say("think about cats");

    assertThat(run.all("REASONING_START")).hasSize(4);
    assertThat(run.all("REASONING_END")).hasSize(4);
    assertThat(run.types().lastIndexOf("REASONING_END"))
        .isLessThan(run.types().indexOf("TEXT_MESSAGE_START"));
  }

  @Test
  void tools_of_the_agent_are_called_and_answered_in_the_run() throws IOException {
    var run = app("agent-code").say("calculate 2+3*4");

    assertThat(run.one("TOOL_CALL_START").path("toolCallName").asString()).isEqualTo("calculator");
    var id = run.one("TOOL_CALL_START").path("toolCallId").asString();
    assertThat(
            Json.mapper().readTree(run.one("TOOL_CALL_ARGS").path("delta").asString()).isObject())
        .isTrue();
    assertThat(run.one("TOOL_CALL_RESULT").path("toolCallId").asString()).isEqualTo(id);
    assertThat(run.one("TOOL_CALL_RESULT").path("content").asString()).contains("14");
    assertThat(run.outcome().has("pendingToolCallIds")).isFalse();
  }

  @Test
  void sub_agents_are_announced_and_their_events_are_theirs() throws IOException {
    var run = app("agent-code").say("delegate say hello to research and writer");

    var started = run.all("SUBAGENT_STARTED");
    assertThat(started).hasSize(2);
    assertThat(started.getFirst().path("name").asString()).isEqualTo("agent-research");
    assertThat(started.getFirst().path("parentToolCallId").asString())
        .isEqualTo(run.one("TOOL_CALL_START").path("toolCallId").asString());
    var ids = started.stream().map(event -> event.path("subagentRunId").asString()).toList();
    var owners =
        run.all("TEXT_MESSAGE_START").stream()
            .map(event -> event.path("subagentRunId").asString(""))
            .toList();
    assertThat(owners).containsAll(ids).contains("");
    assertThat(run.all("SUBAGENT_FINISHED")).hasSize(2);
    assertThat(run.all("SUBAGENT_FINISHED").getFirst().path("result").asString())
        .isEqualTo("hello");
  }

  @Test
  void the_agent_that_a_supervisor_hands_all_to_speaks_for_itself() throws IOException {
    var run = app("supervisor").say("say hello");

    assertThat(run.text()).isEqualTo("hello");
    assertThat(run.all("SUBAGENT_STARTED")).isEmpty();
    assertThat(run.all("TOOL_CALL_START")).isEmpty();
    assertThat(run.one("STEP_STARTED").path("stepName").asString()).isEqualTo("agent-code");
    assertThat(run.types()).contains("STEP_FINISHED");
    assertThat(run.one("CUSTOM").path("name").asString()).isEqualTo("parley.routing");
  }

  @Test
  void several_agents_of_a_supervisor_are_sub_agents_and_it_sums_up() throws IOException {
    var run = app("supervisor").say("delegate say hi to code and data");

    assertThat(run.all("SUBAGENT_STARTED")).hasSize(2);
    assertThat(run.text()).isEqualTo("## Code\n\nhi\n\n## Data\n\nhi");
  }

  @Test
  void a_failure_is_a_run_error_with_a_code() throws IOException {
    var run = app("agent-code").say("fail");

    assertThat(run.types()).startsWith("RUN_STARTED").endsWith("RUN_ERROR");
    assertThat(run.last().path("message").asString()).isNotBlank();
    assertThat(run.last().path("code").asString()).isNotBlank();
  }

  @Test
  void the_past_is_sent_again_and_not_run_again() throws IOException {
    var app = app("agent-code");
    app.say("say one");
    var second = app.say("say two");

    assertThat(second.text()).isEqualTo("two");
    assertThat(contents(app)).containsExactly("say one", "one", "say two", "two");
  }

  @Test
  void a_run_that_is_sent_twice_is_run_once() throws IOException {
    var app = app("agent-code");
    app.said("say once");
    var input = app.input();
    var first = app.run(input);
    var again = app.run(input);

    assertThat(again.frames()).isEqualTo(first.frames());
    assertThat(contents(app)).containsExactly("say once", "once");
  }

  @Test
  void a_run_id_that_is_used_again_with_other_words_is_refused_x_7() throws IOException {
    var app = app("agent-code");
    app.said("say first");
    var input = app.input();
    app.run(input);
    var other = input.deepCopy();
    ((ObjectNode) other.path("messages").path(0)).put("content", "say second");
    var refused = testServer.post("/ag-ui/agent-code", other.toString());

    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(refused.body()).contains("run-id-reused");
    assertThat(contents(app)).containsExactly("say first", "first");
  }

  @Test
  void a_message_id_that_is_used_again_with_other_words_replaces_the_message_x_7()
      throws IOException {
    var app = app("agent-code");
    var said = app.said("say first");
    app.run(_ -> {});
    said.put("content", "say second");
    app.messages.remove(1);
    var again = app.run(_ -> {});

    assertThat(again.text()).isEqualTo("second");
    assertThat(contents(app)).containsExactly("say second", "second");
  }

  @Test
  void a_run_is_answered_in_the_version_of_the_caller() throws IOException {
    for (var declared : List.of("1.0", "1.1")) {
      var app = app("agent-code");
      app.more.put("protocolVersion", declared);
      var started = app.say("say hi").one("RUN_STARTED");

      assertThat(started.path("protocolVersion").asString()).isEqualTo(declared);
    }
    var later = app("agent-code");
    later.more.put("protocolVersion", "1.7");
    var started = later.say("say hi").one("RUN_STARTED");
    assertThat(started.path("protocolVersion").asString()).isEqualTo("1.1");
  }

  @Test
  void a_caller_without_a_version_gets_what_clients_of_0_0_accept() throws IOException {
    var app = app("agent-code");
    app.said("use open_page {}");
    var input = app.input();
    input.remove("protocolVersion");
    input.putArray("tools").addObject().put("name", "open_page").put("description", "Opens a page");
    AgUiTestClient.Run run;
    try (var reader = app.open(input)) {
      run = new AgUiTestClient.Run(input.path("runId").asString(), AgUiTestClient.rest(reader));
    }

    var started = run.one("RUN_STARTED");
    assertThat(started.has("protocolVersion")).isFalse();
    assertThat(started.path("input").path("tools").isArray()).isTrue();
    assertThat(started.path("input").path("context").isArray()).isTrue();
    assertThat(run.outcome().propertyNames()).containsExactly("type");
    var outcome = run.last().path("metadata").path("parley").path("outcome");
    assertThat(outcome.path("pendingToolCallIds").size()).isEqualTo(1);
  }

  @Test
  void an_answer_that_the_application_dropped_is_made_again() throws IOException {
    var app = app("agent-code");
    app.say("say one");
    app.messages.remove(1);
    var again = app.run(_ -> {});

    assertThat(again.text()).isEqualTo("one");
    assertThat(contents(app)).containsExactly("say one", "one");
  }

  @Test
  void a_past_that_the_application_changed_is_rewound_to_where_it_changed() throws IOException {
    var app = app("agent-code");
    app.say("say one");
    app.say("say two");
    app.say("say three");
    while (app.messages.size() > 2) {
      app.messages.remove(2);
    }
    var other = app.say("say four");

    assertThat(other.text()).isEqualTo("four");
    assertThat(contents(app)).containsExactly("say one", "one", "say four", "four");
  }

  @Test
  void a_message_that_was_edited_in_place_takes_the_place_of_the_first() throws IOException {
    var app = app("agent-code");
    app.say("say one");
    app.messages.remove(1);
    ((ObjectNode) app.messages.get(0)).put("content", "say other");

    assertThat(app.run(_ -> {}).text()).isEqualTo("other");
    assertThat(contents(app)).containsExactly("say other", "other");
  }

  @Test
  void a_past_that_comes_with_a_new_thread_is_kept_and_not_run() throws IOException {
    var app = app("agent-code");
    app.said("say zero");
    app.messages.addObject().put("id", "a0").put("role", "assistant").put("content", "zero");
    var run = app.say("say one");

    assertThat(run.text()).isEqualTo("one");
    assertThat(contents(app)).containsExactly("say zero", "zero", "say one", "one");
  }

  @Test
  void an_application_that_does_not_know_the_past_goes_on_with_it() throws IOException {
    app("agent-code").say("say one");
    var other = app("agent-code");

    assertThat(other.say("say two").text()).isEqualTo("two");
    assertThat(contents(other)).containsExactly("say one", "one", "say two", "two");
  }

  @Test
  void what_the_application_dropped_in_between_is_gone_and_what_it_has_after_it_is_kept()
      throws IOException {
    var app = app("agent-code");
    app.say("say one");
    app.say("say two");
    app.say("say three");
    app.messages.remove(5);
    app.messages.remove(3);
    app.messages.remove(2);
    var other = app.say("say four");

    assertThat(other.text()).isEqualTo("four");
    assertThat(contents(app)).containsExactly("say one", "one", "say three", "say four", "four");

    app.messages.remove(2);
    assertThat(app.say("say five").text()).isEqualTo("five");
    assertThat(contents(app)).containsExactly("say one", "one", "say four", "say five", "five");
  }

  @Test
  void what_was_said_through_another_api_is_not_taken_back() throws Exception {
    var app = app("agent-code");
    app.say("say one");
    told(Json.object().put("content", "say else"));
    ModelInstructions.await(
        testServer.log,
        new ContextId(thread),
        entry -> entry.event() instanceof TaskComplete end && end.content().equals("else"));

    assertThat(app.say("say two").text()).isEqualTo("two");
    assertThat(contents(app))
        .containsExactly("say one", "one", "say else", "else", "say two", "two");
  }

  @Test
  void what_others_said_to_a_run_at_work_is_not_taken_back() throws Exception {
    var app = app("agent-code");
    app.said("count slowly to 1000");
    try (var first = app.open(app.input())) {
      AgUiTestClient.until(
          first, event -> event.path("type").asString().equals("TEXT_MESSAGE_CONTENT"));
      told(Json.object().put("content", "say more").put("whenBusy", "steer"));
      ModelInstructions.await(
          testServer.log,
          new ContextId(thread),
          entry ->
              entry.event() instanceof Message message
                  && message.content().equals("say more")
                  && message.metadata().path("steer").asBoolean(false));
      app.cancel();
      AgUiTestClient.rest(first);
    }

    assertThat(app.say("say after").text()).isEqualTo("after");
    assertThat(contents(app))
        .startsWith("count slowly to 1000")
        .contains("say more")
        .endsWith("say after", "after");
  }

  /// Says something in the thread through another API.
  private void told(ObjectNode message) {
    var answer =
        testServer.post(
            "/api/contexts/" + thread + "/messages",
            message.put("agentId", "agent-code").toString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
  }

  @Test
  void parts_that_are_no_text_are_kept_and_fail_nothing() throws IOException {
    var app = app("agent-code");
    var content = app.messages.addObject().put("id", "m1").put("role", "user").putArray("content");
    content.addObject().put("type", "text").put("text", "say hello");
    var image = content.addObject().put("type", "image").putObject("source");
    image.put("type", "data").put("value", "aGVsbG8=").put("mimeType", "image/png");
    var run = app.run(_ -> {});

    assertThat(run.outcome().path("type").asString()).isEqualTo("success");
    var message = json("/api/contexts/" + thread + "/messages/m1");
    assertThat(message.path("parts").path(1)).isEqualTo(content.get(1));
    assertThat(message.path("content").asString()).contains("say hello").contains("image/png");
    assertThat(run.one("RUN_STARTED").path("input").path("messages").path(0).path("content"))
        .isEqualTo(content);
  }

  @Test
  void state_is_shared_in_both_directions() throws IOException {
    var app = app("agent-code");
    app.more.putObject("state").put("colour", "blue");
    var run = app.say("write a report on tea");

    assertThat(
            json("/api/contexts/" + thread + "/snapshot").path("state").path("colour").asString())
        .isEqualTo("blue");
    assertThat(run.all("ACTIVITY_SNAPSHOT")).isNotEmpty();
  }

  @Test
  void a_run_behind_another_waits_its_turn() throws IOException {
    var app = app("agent-code");
    app.said("count slowly to 20");
    try (var first = app.open(app.input())) {
      AgUiTestClient.until(
          first, event -> event.path("type").asString().equals("TEXT_MESSAGE_CONTENT"));
      var second = app.say("say after");
      var rest = AgUiTestClient.rest(first);

      assertThat(second.text()).isEqualTo("after");
      assertThat(rest.getLast().json().path("type").asString()).isEqualTo("RUN_FINISHED");
      assertThat(number(rest.getLast().id())).isLessThan(number(second.frames().getFirst().id()));
    }
  }

  private static long number(String id) {
    return Long.parseLong(id.replaceAll("[~.].*", ""));
  }

  private List<String> contents(AgUiTestClient app) {
    return json("/api/contexts/" + app.thread + "/messages")
        .path("items")
        .valueStream()
        .map(message -> message.path("content").asString())
        .toList();
  }

  private JsonNode json(String path) {
    return Json.mapper().readTree(testServer.get(path).body());
  }
}
