package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Runs that stop to ask, and what makes them go on.
class AgUiInterruptsTest extends AgUiFixture {

  @Test
  void an_approval_is_an_interrupt_and_its_call_is_answered_in_the_next_run() throws IOException {
    var asked = app.say("run echo hello");

    assertThat(asked.outcome().path("type").asString()).isEqualTo("interrupt");
    var interrupt = asked.interrupt();
    var call = asked.one("TOOL_CALL_START").path("toolCallId").asString();
    assertThat(interrupt.path("reason").asString()).isEqualTo("tool_call");
    assertThat(interrupt.path("message").asString()).isEqualTo("May agent-code call shell?");
    assertThat(interrupt.path("toolCallId").asString()).isEqualTo(call);
    assertThat(interrupt.path("responseSchema").path("properties").has("editedArgs")).isTrue();
    assertThat(interrupt.path("expiresAt").asString()).endsWith("Z");
    assertThat(interrupt.path("metadata").path("toolCall").path("toolName").asString())
        .isEqualTo("shell");
    assertThat(asked.all("TOOL_CALL_RESULT")).isEmpty();

    var run = app.answer(asked, Json.object().put("approved", true));

    assertThat(run.one("RUN_STARTED").path("runId").asString()).isEqualTo(run.runId());
    assertThat(run.all("TOOL_CALL_START")).isEmpty();
    assertThat(run.one("TOOL_CALL_RESULT").path("toolCallId").asString()).isEqualTo(call);
    assertThat(run.text()).contains("hello");
  }

  @Test
  void a_refusal_performs_nothing() throws IOException {
    var asked = app.say("run touch made");
    var run = app.answer(asked, Json.object().put("approved", false).put("reason", "not now"));

    assertThat(run.outcome().path("type").asString()).isEqualTo("success");
    assertThat(run.one("TOOL_CALL_RESULT").path("content").asString()).contains("not now");
    assertThat(Files.exists(folder.resolve("made"))).isFalse();
  }

  @Test
  void arguments_can_be_edited_when_a_call_is_approved() throws IOException {
    var asked = app.say("run echo hello");
    var payload = Json.object().put("approved", true);
    payload.putObject("editedArgs").put("command", "echo other");
    var run = app.answer(asked, payload);

    assertThat(run.one("TOOL_CALL_RESULT").path("content").asString()).contains("other");
  }

  @Test
  void edited_arguments_that_do_not_fit_are_refused_and_the_interrupt_stays() throws IOException {
    var asked = app.say("run echo hello");
    var refused =
        app.refused(
            input ->
                input
                    .putArray("resume")
                    .addObject()
                    .put("interruptId", asked.interrupt().path("id").asString())
                    .put("status", "resolved")
                    .putObject("payload")
                    .put("approved", true)
                    .putObject("editedArgs")
                    .put("command", 7));

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(code(refused.body())).isEqualTo("invalid-answer");
    assertThat(app.answer(asked, BooleanNode.TRUE).text()).contains("hello");
  }

  @Test
  void an_abandoned_approval_is_a_refusal() throws IOException {
    var asked = app.say("run echo hello");
    var run = app.run(input -> abandon(input, asked));

    assertThat(run.outcome().path("type").asString()).isEqualTo("success");
    assertThat(run.one("TOOL_CALL_RESULT").path("metadata").path("success").asBoolean()).isFalse();
  }

  @Test
  void a_question_is_answered_with_its_value() throws IOException {
    var asked = app.say("ask me which colour");
    assertThat(asked.interrupt().path("reason").asString()).isEqualTo("input_required");
    assertThat(asked.interrupt().path("responseSchema").path("type").asString())
        .isEqualTo("string");

    assertThat(app.answer(asked, StringNode.valueOf("blue")).text()).contains("blue");
  }

  @Test
  void an_abandoned_question_fails_its_call_and_the_run_has_its_name() throws IOException {
    var asked = app.say("ask me which colour");
    var run = app.run(input -> abandon(input, asked));

    assertThat(run.one("RUN_STARTED").path("runId").asString()).isEqualTo(run.runId());
    assertThat(run.one("TOOL_CALL_RESULT").path("content").asString()).startsWith("Error: ");
  }

  @Test
  void an_open_interrupt_without_an_entry_performs_nothing_and_is_refused() throws IOException {
    var asked = app.say("run touch made");
    app.said("say hello");
    var refused = app.refused(_ -> {});

    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(code(refused.body())).isEqualTo("interrupts-open");
    assertThat(refused.body()).contains(asked.interrupt().path("id").asString());
    assertThat(Files.exists(folder.resolve("made"))).isFalse();
  }

  @Test
  void an_answer_needs_a_payload() throws IOException {
    var asked = app.say("run echo hello");
    var refused =
        app.refused(
            input ->
                input
                    .putArray("resume")
                    .addObject()
                    .put("interruptId", asked.interrupt().path("id").asString())
                    .put("status", "resolved"));

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(code(refused.body())).isEqualTo("invalid-answer");
  }

  @Test
  void what_is_not_asked_any_more_or_never_was_is_refused() throws IOException {
    var asked = app.say("run echo hello");
    var unknown =
        app.refused(
            input ->
                input
                    .putArray("resume")
                    .addObject()
                    .put("interruptId", "nobody-asked")
                    .put("status", "cancelled"));
    assertThat(unknown.statusCode()).isEqualTo(409);
    assertThat(code(unknown.body())).isEqualTo("interrupt-not-open");

    app.answer(asked, BooleanNode.TRUE);
    var stale = app.refused(input -> abandon(input, asked));
    assertThat(stale.statusCode()).isEqualTo(409);
    assertThat(code(stale.body())).isEqualTo("interrupt-not-open");
    var elsewhere =
        new AgUiTestClient(testServer, "agent-code", thread + "-2").refused(i -> abandon(i, asked));
    assertThat(code(elsewhere.body())).isEqualTo("interrupt-not-open");
  }

  @Test
  void an_answer_that_is_sent_twice_is_taken_once() throws IOException {
    var asked = app.say("run echo hello");
    var input = app.input();
    input
        .putArray("resume")
        .addObject()
        .put("interruptId", asked.interrupt().path("id").asString())
        .put("status", "resolved")
        .put("payload", true);

    assertThat(app.run(input).frames()).isEqualTo(app.run(input).frames());
  }

  @Test
  void what_a_sub_agent_asks_suspends_it_and_it_goes_on_under_its_id() throws IOException {
    var asked = app.say("delegate run echo deep to research");
    var agent = asked.one("SUBAGENT_STARTED").path("subagentRunId").asString();

    assertThat(asked.interrupt().path("subagentRunId").asString()).isEqualTo(agent);
    var outcome = asked.one("SUBAGENT_FINISHED").path("outcome");
    assertThat(outcome.path("type").asString()).isEqualTo("suspended");
    assertThat(outcome.path("interruptIds").path(0)).isEqualTo(asked.interrupt().path("id"));

    var run = app.answer(asked, BooleanNode.TRUE);

    assertThat(run.one("SUBAGENT_STARTED").path("subagentRunId").asString()).isEqualTo(agent);
    assertThat(run.one("SUBAGENT_FINISHED").path("outcome").path("type").asString())
        .isEqualTo("success");
    assertThat(run.text()).contains("deep");
  }

  @Test
  void a_sign_in_is_an_interrupt_that_is_not_answered_here() throws IOException {
    var asked = app.say("sign in to api.example.org");
    var interrupt = asked.interrupt();
    assertThat(interrupt.path("reason").asString()).isEqualTo("auth_required");
    var refused =
        app.refused(
            input ->
                input
                    .putArray("resume")
                    .addObject()
                    .put("interruptId", interrupt.path("id").asString())
                    .put("status", "resolved")
                    .put("payload", "my-secret"));
    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(code(refused.body())).isEqualTo("sign-in-elsewhere");

    var run = app.run(input -> abandon(input, asked));
    assertThat(run.outcome().path("type").asString()).isEqualTo("success");
  }

  @Test
  void a_tool_of_the_application_ends_the_run_and_its_result_comes_with_the_next()
      throws IOException {
    tool("open_page");
    var called = app.say("use open_page {\"path\": \"/help\"}");
    var call = called.one("TOOL_CALL_START").path("toolCallId").asString();

    assertThat(called.outcome().path("type").asString()).isEqualTo("success");
    assertThat(called.outcome().path("pendingToolCallIds").path(0).asString()).isEqualTo(call);
    assertThat(called.all("TOOL_CALL_RESULT")).isEmpty();

    result(call, "opened");
    var run = app.run(_ -> {});

    assertThat(run.all("TOOL_CALL_RESULT")).isEmpty();
    assertThat(run.one("RUN_STARTED").path("input").path("messages").path(0).path("toolCallId"))
        .isEqualTo(StringNode.valueOf(call));
    assertThat(run.text()).isEqualTo("open_page answered: opened");
  }

  @Test
  void a_supervisor_gives_the_tools_of_the_application_to_its_agents() throws IOException {
    app = app("supervisor");
    tool("open_page");
    var called = app.say("use open_page {\"path\": \"/help\"}");
    result(called.outcome().path("pendingToolCallIds").path(0).asString(), "opened");

    assertThat(app.run(_ -> {}).text()).isEqualTo("open_page answered: opened");
  }

  @Test
  void a_tool_that_failed_in_the_application_is_told_to_the_model() throws IOException {
    tool("open_page");
    var called = app.say("use open_page {}");
    var call = called.outcome().path("pendingToolCallIds").path(0).asString();
    app.messages
        .addObject()
        .put("id", "t1")
        .put("role", "tool")
        .put("toolCallId", call)
        .put("content", "")
        .put("error", "no such page");

    assertThat(app.run(_ -> {}).text()).contains("no such page");
  }

  @Test
  void a_result_and_a_new_message_can_come_together() throws IOException {
    tool("open_page");
    var called = app.say("use open_page {}");
    result(called.outcome().path("pendingToolCallIds").path(0).asString(), "opened");
    var run = app.say("say more");

    assertThat(run.one("RUN_STARTED").path("runId").asString()).isEqualTo(run.runId());
    assertThat(run.text()).contains("more");
  }

  @Test
  void a_person_who_goes_on_without_the_result_is_heard() throws IOException {
    tool("open_page");
    app.say("use open_page {}");
    var run = app.say("say something else");

    assertThat(run.text()).contains("something else");
    assertThat(run.one("TOOL_CALL_RESULT").path("content").asString()).startsWith("Error: ");
  }

  @Test
  void nothing_new_is_refused_while_a_result_is_waited_for() throws IOException {
    tool("open_page");
    app.say("use open_page {}");
    app.messages.addObject().put("id", "a9").put("role", "assistant").put("content", "well");
    var refused = app.refused(_ -> {});

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(code(refused.body())).isEqualTo("nothing-new");
  }

  private void tool(String name) {
    var tool = app.more.putArray("tools").addObject();
    tool.put("name", name).put("description", "Opens a page");
    tool.putObject("parameters").put("type", "object");
  }

  private void result(String call, String content) {
    app.messages
        .addObject()
        .put("id", AgUiTestClient.id())
        .put("role", "tool")
        .put("toolCallId", call)
        .put("content", content);
  }

  private static void abandon(ObjectNode input, AgUiTestClient.Run asked) {
    input
        .putArray("resume")
        .addObject()
        .put("interruptId", asked.interrupt().path("id").asString())
        .put("status", "cancelled");
  }

  private static String code(String body) {
    JsonNode json = Json.mapper().readTree(body);
    return json.path("code").asString();
  }
}
