package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.call;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static dev.parley.model.FakeModelAnswer.thinking;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.ModelSettings.Prices;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ToolCallId;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

class AnthropicModelTest extends UnreliableModelContract {

  private static final ToolCall CALL = new ToolCall(new ToolCallId("c"), "clock", Json.object());

  @Override
  Model model(
      OutgoingHttpClient connections,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    return new AnthropicModel(connections, settings, modelLimits, sources);
  }

  @Override
  String modelName() {
    return "claude-opus-4-8";
  }

  @Override
  String lengthReason() {
    return "max_tokens";
  }

  @Override
  List<JsonNode> messages(FakeModelServer.ReceivedRequest receivedRequest) {
    return receivedRequest.body().path("messages").valueStream().toList();
  }

  @Override
  FakeModelAnswer formed(String talk, String... json) {
    var answer = FakeModelAnswer.of(call("c", "answer", json));
    return talk.isEmpty() ? answer : FakeModelAnswer.of(text(talk), call("c", "answer", json));
  }

  @Override
  void checkMemo(FakeModelServer.ReceivedRequest receivedRequest) {
    var content = messages(receivedRequest).get(1).path("content");

    assertThat(content.valueStream().map(JsonNode::toString))
        .containsExactly(
            "{\"type\":\"thinking\",\"thinking\":\"First.\",\"signature\":\"signed-1\"}",
            "{\"type\":\"text\",\"text\":\"Let me look. \"}",
            "{\"type\":\"thinking\",\"thinking\":\"Second.\",\"signature\":\"signed-2\"}",
            "{\"type\":\"tool_use\",\"id\":\"call_a\",\"name\":\"clock\",\"input\":{}}");
  }

  private Model thinkingModel(String name, int tokens) {
    return model(new ModelSettings(name, server.url(), KEY, null, tokens, null), BOUNDS);
  }

  private JsonNode body() {
    return server.lastRequest().body();
  }

  @Test
  void it_asks_as_the_api_wants_it() throws Exception {
    answered(serving(saying("x")), said("go"));

    var receivedRequest = server.lastRequest();
    assertThat(receivedRequest.path()).isEqualTo("/v1/messages");
    assertThat(receivedRequest.header("anthropic-version")).isEqualTo("2023-06-01");
    assertThat(receivedRequest.header("x-api-key")).isEqualTo(KEY.value());
    assertThat(body().path("max_tokens").asInt()).isEqualTo(16_384);
    assertThat(body().path("stream").asBoolean()).isTrue();
    assertThat(body().has("thinking")).isFalse();
  }

  @Test
  void instructions_tools_and_the_last_message_are_to_be_cached() throws Exception {
    answered(
        serving(saying("x")),
        said("one"),
        new PromptPart.PromptMessage(Role.ASSISTANT, "two"),
        said("three"));

    assertThat(body().path("system").path(0).has("cache_control")).isTrue();
    assertThat(body().path("tools").path(0).has("cache_control")).isTrue();
    assertThat(body().path("messages").path(0).toString()).doesNotContain("cache_control");
    assertThat(body().path("messages").path(2).toString()).contains("cache_control");
  }

  @Test
  void user_and_assistant_take_turns() throws Exception {
    answered(
        serving(saying("x")),
        new PromptPart.PromptMessage(Role.ASSISTANT, "earlier"),
        said("one"),
        said("two"),
        new PromptPart.PromptToolCalls("", List.of(CALL), null),
        new PromptPart.PromptToolResult(CALL.id(), "clock", false, StringNode.valueOf("broken")),
        said("three"),
        new PromptPart.PromptMessage(Role.ASSISTANT, "four"));

    var roles = body().path("messages").valueStream().map(m -> m.path("role").asString()).toList();
    assertThat(roles)
        .containsExactly("user", "assistant", "user", "assistant", "user", "assistant", "user");
    var results = body().path("messages").path(4).path("content");
    assertThat(results.path(0).path("type").asString()).isEqualTo("tool_result");
    assertThat(results.path(0).path("is_error").asBoolean()).isTrue();
    assertThat(results.path(1).path("text").asString()).isEqualTo("three");
  }

  @Test
  void usage_that_grows_is_not_counted_twice() throws Exception {
    var delta =
        "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"input_tokens\":100,"
            + "\"cache_read_input_tokens\":0,\"output_tokens\":7}}\n\n";
    serving(FakeModelAnswer.of(text("x"), new Step.Raw(delta), new Step.Used(100, 9, 20, 30)));
    var prices =
        new Prices(
            new BigDecimal("1"),
            new BigDecimal("10"),
            new BigDecimal("1.25"),
            new BigDecimal("0.1"));

    var usage =
        answered(
                model(new ModelSettings("m", server.url(), KEY, null, 0, prices), BOUNDS),
                said("go"))
            .usage();

    assertThat(usage.inputTokens()).isEqualTo(100);
    assertThat(usage.cacheCreationInputTokens()).isEqualTo(20);
    assertThat(usage.cacheReadInputTokens()).isEqualTo(30);
    assertThat(usage.outputTokens()).isEqualTo(9);
    assertThat(usage.costUsd()).isEqualByComparingTo("0.000218");
  }

  @ParameterizedTest
  @CsvSource({
    "end_turn, STOP",
    "stop_sequence, STOP",
    "max_tokens, LENGTH",
    "model_context_window_exceeded, LENGTH",
    "refusal, REFUSAL",
    "pause_turn, STOP",
    "unheard_of, STOP"
  })
  void every_reason_to_stop_has_a_name(String reason, FinishReason expected) throws Exception {
    var model = serving(FakeModelAnswer.of(text("x"), new Step.Stop(reason)));

    assertThat(answered(model, said("go")).reason()).isEqualTo(expected);
  }

  @Test
  void a_refusal_without_text_is_a_failure_that_says_so() throws Exception {
    var reply = failed(serving(FakeModelAnswer.of(new Step.Stop("refusal"))));

    assertThat(reply.code()).isEqualTo(ErrorCode.REJECTED);
    assertThat(reply.message()).isEqualTo("the model refused to answer and gave no reason");
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void redacted_thoughts_go_back_too() throws Exception {
    serving(FakeModelAnswer.of(new Step.Redacted("opaque"), call("c", "clock")), saying("done"));
    var model = thinkingModel("claude-sonnet-4-5", 2_000);
    var asked = answered(model, said("go"));
    assertThat(heard.thoughts()).isEmpty();

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls("", asked.calls(), asked.memo()),
        new PromptPart.PromptToolResult(
            new ToolCallId("c"), "clock", true, StringNode.valueOf("noon")));

    assertThat(body().path("messages").path(1).path("content").path(0).toString())
        .isEqualTo("{\"type\":\"redacted_thinking\",\"data\":\"opaque\"}");
    assertThat(body().path("thinking").path("budget_tokens").asInt()).isEqualTo(2_000);
    assertThat(body().path("max_tokens").asInt()).isEqualTo(18_384);
  }

  @Test
  void a_model_amid_calls_that_has_not_thought_does_not_begin_to() throws Exception {
    serving(saying("done"));

    answered(
        thinkingModel("claude-sonnet-4-5", 2_000),
        said("go"),
        new PromptPart.PromptToolCalls("", List.of(CALL), null),
        new PromptPart.PromptToolResult(CALL.id(), "clock", true, StringNode.valueOf("noon")));

    assertThat(body().has("thinking")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "claude-3-7-sonnet-latest, true",
    "claude-sonnet-4-20250514, true",
    "claude-opus-4-1-20250805, true",
    "claude-sonnet-4-5, true",
    "anthropic.claude-haiku-4-5-20251001-v1:0, true",
    "kimi-k2-thinking, true",
    "claude-opus-4-6, false",
    "claude-opus-4-7, false",
    "claude-opus-4-8-20260501, false",
    "claude-sonnet-5, false"
  })
  void newer_models_decide_themselves_how_much_to_think(String name, boolean budgeted)
      throws Exception {
    serving(saying("x"));

    answered(thinkingModel(name, 8_000), said("go"));

    assertThat(body().path("thinking").path("type").asString())
        .isEqualTo(budgeted ? "enabled" : "adaptive");
    assertThat(body().path("output_config").path("effort").asString(""))
        .isEqualTo(budgeted ? "" : "medium");
  }

  @Test
  void the_call_that_gives_the_answer_is_forced_where_that_is_allowed() throws Exception {
    serving(formed("", "{\"a\":1}"));
    var schema = Json.object().put("type", "object");
    var prompt = new Prompt("", List.of(said("go")), List.of(), schema);

    thinkingModel("claude-sonnet-4-5", 2_000).ask(prompt, heard);
    assertThat(body().path("tool_choice").path("name").asString()).isEqualTo("answer");
    assertThat(body().has("thinking")).isFalse();

    thinkingModel("claude-opus-4-8", 2_000).ask(prompt, heard);
    assertThat(body().has("tool_choice")).isFalse();
    assertThat(body().path("system").toString()).contains("calling the tool answer");
  }

  @Test
  void tools_may_be_called_before_an_answer_of_some_form() throws Exception {
    var model = serving(FakeModelAnswer.of(text("hm"), call("c", "calculator", "{}")));
    var schema = Json.object().put("type", "object");

    var reply =
        (ModelReply.ModelAnswer)
            model.ask(new Prompt("", List.of(said("go")), List.of(CALCULATOR), schema), heard);

    assertThat(reply.calls()).hasSize(1);
    assertThat(heard.text()).isEmpty();
  }

  @Test
  void a_base_url_may_end_in_the_version() throws Exception {
    serving(saying("x"));
    var url = server.url().resolve("/proxy/v1/?team=a");

    answered(model(new ModelSettings("m", url, KEY, null, 0, null), BOUNDS), said("go"));

    assertThat(server.lastRequest().path()).isEqualTo("/proxy/v1/messages?team=a");
  }

  @Test
  void thoughts_that_follow_each_other_are_set_apart() throws Exception {
    var model =
        serving(FakeModelAnswer.of(thinking("a", "One."), thinking("b", "Two."), text("x")));

    answered(model, said("go"));

    assertThat(heard.thoughts()).isEqualTo("One.\n\nTwo.");
  }
}
