package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.call;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static dev.parley.model.FakeModelAnswer.thinking;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// How every remote model builds requests, and handles answers with a schema.
abstract class ModelRequestContract extends RemoteModelContract {

  /// Returns the messages of a request, whatever this API calls them.
  abstract List<JsonNode> messages(FakeModelServer.ReceivedRequest receivedRequest);

  @Test
  void what_the_model_wants_back_goes_back_as_it_came() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                thinking("signed-1", "First."),
                text("Let me look. "),
                thinking("signed-2", "Second."),
                call("call_a", "clock", "{}")),
            saying("done"));
    var asked = answered(model, said("go"));
    // The memo is stored as JSON in between.
    var memo = Json.mapper().readTree(Json.bytes(asked.memo()));

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls(heard.text(), asked.calls(), memo),
        new PromptPart.PromptToolResult(
            new ToolCallId("call_a"), "clock", true, StringNode.valueOf("noon")));

    checkMemo(server.lastRequest());
  }

  /// Checks that earlier reasoning is in the request, in its original order, signed `signed-1` and
  /// `signed-2`.
  abstract void checkMemo(FakeModelServer.ReceivedRequest receivedRequest);

  @Test
  void what_another_model_wanted_back_does_not_go_to_this_one() throws Exception {
    var model = serving(saying("done"));
    var memo = Json.object().put("model", "another").put("field", "reasoning_content");
    memo.put("reasoning", "SECRET");
    memo.putArray("blocks").addObject().put("type", "thinking").put("thinking", "SECRET");
    memo.putArray("items").addObject().put("type", "reasoning").put("encrypted_content", "SECRET");
    var wanted = new ToolCall(new ToolCallId("c"), "clock", Json.object());

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls("x", List.of(wanted), memo),
        new PromptPart.PromptToolResult(wanted.id(), "clock", true, StringNode.valueOf("noon")));

    assertThat(server.lastRequest().body().toString()).doesNotContain("SECRET").contains("noon");
  }

  @Test
  void every_call_has_its_result_behind_it_even_if_it_has_none() throws Exception {
    var model = serving(saying("done"));
    var first = new ToolCall(new ToolCallId("call.with:signs"), "clock", Json.object());
    var second = new ToolCall(new ToolCallId("b"), "calculator", Json.object());

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls("", List.of(first, second), null),
        said("by the way"),
        new PromptPart.PromptToolResult(
            first.id(), "clock", false, StringNode.valueOf("no battery")),
        new PromptPart.PromptToolResult(
            new ToolCallId("orphan"), "clock", true, StringNode.valueOf("noon")));

    var body = server.lastRequest().body().toString();
    assertThat(body).contains("no battery", "this call has no result", "noon");
    assertThat(body.indexOf("no battery")).isLessThan(body.indexOf("by the way"));
    assertThat(body).doesNotContain("call.with:signs");
  }

  @Test
  void words_of_the_system_are_told_at_the_top_or_in_their_place() throws Exception {
    var model = serving(saying("done"));

    answered(
        model,
        new PromptPart.PromptMessage(Role.SYSTEM, "FIRST"),
        said("one"),
        new PromptPart.PromptMessage(Role.ASSISTANT, "two"),
        new PromptPart.PromptMessage(Role.SYSTEM, "LATER"),
        said(" "),
        said("three"));

    var messages = messages(server.lastRequest()).toString();
    assertThat(messages.indexOf("one")).isLessThan(messages.indexOf("two"));
    assertThat(messages.indexOf("two")).isLessThan(messages.indexOf("LATER"));
    assertThat(messages.indexOf("LATER")).isLessThan(messages.indexOf("three"));
    var body = server.lastRequest().body().toString();
    assertThat(body).contains("Be brief.\\n\\nFIRST");
  }

  @Test
  void a_tool_with_a_name_that_the_api_does_not_allow_can_be_called() throws Exception {
    var model = serving(FakeModelAnswer.of(call("c", "agent_research_2", "{}")));
    var odd = new Prompt.ToolDescription("agent:research", "d", CALCULATOR.schema());
    var alike = new Prompt.ToolDescription("agent_research", "d", CALCULATOR.schema());

    var reply =
        (ModelReply.ModelAnswer)
            model.ask(new Prompt("", List.of(said("go")), List.of(odd, alike), null), heard);

    assertThat(reply.calls()).extracting(ToolCall::name).containsExactly("agent:research");
  }

  @Test
  void an_answer_of_some_form_is_that_and_nothing_else() throws Exception {
    var schema = Json.object().put("type", "object");
    schema.putObject("properties").putObject("city").put("type", "string");
    var model =
        serving(formed("Sure: ", "{\"city\": ", "\"Köln\"}").then(new Step.Used(1, 1, 0, 0)));

    var modelReply = model.ask(new Prompt("", List.of(said("go")), List.of(), schema), heard);

    assertThat(((ModelReply.ModelAnswer) modelReply).reason()).isEqualTo(FinishReason.STOP);
    assertThat(((ModelReply.ModelAnswer) modelReply).calls()).isEmpty();
    assertThat(heard.text()).isEqualTo("{\"city\":\"Köln\"}");
    assertThat(server.lastRequest().body().toString()).contains("\"city\"");
  }

  /// Returns an answer with a schema as this API sends it, optionally after other text.
  abstract FakeModelAnswer formed(String talk, String... json);

  @Test
  void an_answer_may_have_the_form_of_a_list() throws Exception {
    var schema = Json.object().put("type", "array");
    schema.putObject("items").put("type", "string");
    var model = serving(formed("", "{\"value\": [\"a\"", ", \"b\"]}"));

    var modelReply = model.ask(new Prompt("", List.of(said("go")), List.of(), schema), heard);

    assertThat(modelReply).isInstanceOf(ModelReply.ModelAnswer.class);
    assertThat(heard.text()).isEqualTo("[\"a\",\"b\"]");
  }

  @Test
  void an_answer_without_its_form_is_asked_for_again() throws Exception {
    var schema = Json.object().put("type", "object");
    var model = serving(saying("I would rather not."), saying("```json\n{\"a\": 1}\n```"));

    var modelReply = model.ask(new Prompt("", List.of(said("go")), List.of(), schema), heard);

    assertThat(modelReply).isInstanceOf(ModelReply.ModelAnswer.class);
    assertThat(heard.text()).isEqualTo("{\"a\":1}");
    assertThat(waits).containsExactly(Duration.ZERO);
  }

  @Test
  void an_answer_that_twice_lacks_its_form_fails_without_a_wait_and_is_shown() throws Exception {
    var schema = Json.object().put("type", "object");
    var model = serving(saying("I would rather not."));

    var modelReply = model.ask(new Prompt("", List.of(said("go")), List.of(), schema), heard);

    assertThat(server.requests()).hasSize(2);
    assertThat(waits).containsExactly(Duration.ZERO);
    assertThat(((ModelReply.ModelError) modelReply).message())
        .contains("not the JSON", "I would rather not.");
  }
}
