package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.call;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

class OpenAiChatModelTest extends UnreliableModelContract {

  @Override
  Model model(
      OutgoingHttpClient connections,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    return new OpenAiModel(OpenAiModel.OpenAiApi.CHAT, connections, settings, modelLimits, sources);
  }

  @Override
  String modelName() {
    return "qwen3";
  }

  @Override
  String lengthReason() {
    return "length";
  }

  @Override
  List<JsonNode> messages(FakeModelServer.ReceivedRequest receivedRequest) {
    return receivedRequest.body().path("messages").valueStream().toList();
  }

  @Override
  FakeModelAnswer formed(String talk, String... json) {
    return FakeModelAnswer.of(text(talk), text(json));
  }

  /// This API has no signatures, and a single field for all reasoning.
  @Override
  void checkMemo(FakeModelServer.ReceivedRequest receivedRequest) {
    var turn = messages(receivedRequest).get(2);

    assertThat(turn.path("reasoning_content").asString()).isEqualTo("First.Second.");
    assertThat(turn.path("content").asString()).isEqualTo("Let me look. ");
    assertThat(turn.path("tool_calls").path(0).path("id").asString()).isEqualTo("call_a");
  }

  private JsonNode body() {
    return server.lastRequest().body();
  }

  private static Step chunk(String choice) {
    return new Step.Raw("data: {\"choices\":[" + choice + "]}\n\n");
  }

  @Test
  void it_asks_as_the_api_wants_it() throws Exception {
    var wanted = new ToolCall(new ToolCallId("c"), "calculator", Json.object().put("a", 1));

    answered(
        serving(saying("x")),
        said("go"),
        new PromptPart.PromptToolCalls("", List.of(wanted), null),
        new PromptPart.PromptToolResult(
            wanted.id(), "calculator", false, StringNode.valueOf("broken")));

    var receivedRequest = server.lastRequest();
    assertThat(receivedRequest.path()).isEqualTo("/v1/chat/completions");
    assertThat(receivedRequest.header("authorization")).isEqualTo("Bearer " + KEY.value());
    assertThat(body().path("stream_options").path("include_usage").asBoolean()).isTrue();
    assertThat(body().path("tools").path(0).path("function").path("name").asString())
        .isEqualTo("calculator");
    assertThat(messages(receivedRequest).stream().map(JsonNode::toString))
        .containsExactly(
            "{\"role\":\"system\",\"content\":\"Be brief.\"}",
            "{\"role\":\"user\",\"content\":\"go\"}",
            "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
                + "\"function\",\"function\":{\"name\":\"calculator\",\"arguments\":\"{\\\"a\\\":1}\"}}]}",
            "{\"role\":\"tool\",\"content\":\"Error: broken\",\"tool_call_id\":\"c\"}");
  }

  @Test
  void limits_and_efforts_are_sent_only_if_they_are_set() throws Exception {
    answered(serving(saying("x")), said("go"));
    assertThat(body().has("max_tokens")).isFalse();
    assertThat(body().has("reasoning_effort")).isFalse();

    var url = server.url().resolve("/api/v3");
    answered(model(new ModelSettings("m", url, KEY, 900, 500, null), BOUNDS), said("go"));

    assertThat(server.lastRequest().path()).isEqualTo("/api/v3/chat/completions");
    assertThat(body().path("max_tokens").asInt()).isEqualTo(900);
    assertThat(body().path("reasoning_effort").asString()).isEqualTo("low");
  }

  @ParameterizedTest
  @CsvSource({"stop, STOP", "length, LENGTH", "content_filter, CONTENT_FILTER", "odd, STOP"})
  void every_reason_to_stop_has_a_name(String reason, FinishReason expected) throws Exception {
    var model = serving(FakeModelAnswer.of(text("x"), new Step.Stop(reason)));

    assertThat(answered(model, said("go")).reason()).isEqualTo(expected);
  }

  @Test
  void calls_are_told_apart_even_if_they_have_no_places_or_all_the_same() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                chunk(
                    "{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"clock\","
                        + "\"arguments\":\"{\\\"x\\\":\"}}]}}"),
                chunk("{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"1}\"}}]}}"),
                chunk(
                    "{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":"
                        + "\"clock\",\"arguments\":{\"x\":2}}}]}}")));

    var calls = answered(model, said("go")).calls();

    assertThat(calls).extracting(made -> made.id().value()).containsExactly("a", "b");
    assertThat(calls).extracting(made -> made.arguments().path("x").asInt()).containsExactly(1, 2);
  }

  @Test
  void a_refusal_is_said_and_named() throws Exception {
    var model = serving(FakeModelAnswer.of(chunk("{\"delta\":{\"refusal\":\"No.\"}}")));

    assertThat(answered(model, said("go")).reason()).isEqualTo(FinishReason.REFUSAL);
    assertThat(heard.text()).isEqualTo("No.");
  }

  @Test
  void content_may_be_a_list_of_parts() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                chunk(
                    "{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
                        + "[{\"type\":\"text\",\"text\":\"hm\"}]}]}}"),
                chunk(
                    "{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"one \"},"
                        + "{\"type\":\"text\",\"text\":\"two\"},{\"type\":\"image_url\"}]}}"),
                chunk("{\"delta\":{\"content\":[\" three\"]}}")));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("one two three");
    assertThat(heard.thoughts()).isEqualTo("hm");
  }

  @Test
  void a_call_in_the_first_form_of_the_api_is_made() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                chunk(
                    "{\"delta\":{\"content\":null,\"function_call\":{\"name\":\"clock\","
                        + "\"arguments\":\"{\\\"x\\\":\"}}}"),
                chunk("{\"delta\":{\"function_call\":{\"arguments\":\"1}\"}}}"),
                chunk("{\"delta\":{},\"finish_reason\":\"function_call\"}")));

    var answer = answered(model, said("go"));

    assertThat(answer.reason()).isEqualTo(FinishReason.TOOL_CALLS);
    assertThat(answer.calls()).hasSize(1);
    assertThat(answer.calls().getFirst().name()).isEqualTo("clock");
    assertThat(answer.calls().getFirst().arguments().path("x").asInt()).isOne();
  }

  @Test
  void only_the_answer_that_was_asked_for_is_read() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                chunk(
                    "{\"index\":1,\"delta\":{\"content\":\"B\"}},"
                        + "{\"index\":0,\"delta\":{\"content\":\"A\"}}"),
                chunk("{\"index\":1,\"delta\":{\"content\":\"B\"},\"finish_reason\":\"length\"}"),
                chunk("{\"index\":0,\"delta\":{\"content\":\"A\"},\"finish_reason\":\"stop\"}")));

    var answer = answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("AA");
    assertThat(answer.reason()).isEqualTo(FinishReason.STOP);
  }

  @Test
  void reasoning_under_its_other_name_is_thinking_too() throws Exception {
    var both = "{\"delta\":{\"reasoning\":\"hm\",\"reasoning_content\":\"hm\"}}";
    var model =
        serving(FakeModelAnswer.of(chunk("{\"delta\":{\"reasoning\":\"well, \"}}"), chunk(both)));

    answered(model, said("go"));

    assertThat(heard.thoughts()).isEqualTo("well, hm");
  }

  @Test
  void what_a_call_is_signed_with_goes_back() throws Exception {
    var signed =
        "{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"extra_content\":{\"google\":"
            + "{\"thought_signature\":\"S\"}},\"function\":{\"name\":\"clock\",\"arguments\":\"{}\"}}]}}";
    var model = serving(FakeModelAnswer.of(chunk(signed)), saying("x"));
    var asked = answered(model, said("go"));

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls("", asked.calls(), asked.memo()),
        new PromptPart.PromptToolResult(
            new ToolCallId("a"), "clock", true, StringNode.valueOf("noon")));

    assertThat(body().toString())
        .contains("\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}");
  }

  @Test
  void a_server_that_does_not_say_that_it_is_done_is_believed_if_it_gave_a_reason()
      throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(text("x"), chunk("{\"delta\":{},\"finish_reason\":\"stop\"}"))
                .ending(FakeModelAnswer.Ending.CUT));

    assertThat(answered(model, said("go")).reason()).isEqualTo(FinishReason.STOP);
  }

  @Test
  void a_schema_is_strict_if_it_can_be() throws Exception {
    var loose = Json.object().put("type", "object");
    var strict = Json.object().put("type", "object").put("additionalProperties", false);
    strict.putObject("properties").putObject("a").put("type", "string");
    strict.putArray("required").add("a");
    var model = serving(saying("{}"));

    model.ask(new Prompt("", List.of(said("go")), List.of(), loose), heard);
    var format = body().path("response_format").path("json_schema");
    assertThat(format.path("strict").asBoolean()).isFalse();
    model.ask(new Prompt("", List.of(said("go")), List.of(), strict), heard);

    format = body().path("response_format").path("json_schema");
    assertThat(format.path("strict").asBoolean()).isTrue();
    assertThat(format.path("schema")).isEqualTo(strict);
  }

  @Test
  void a_call_to_a_tool_without_a_name_is_made_all_the_same() throws Exception {
    var model = serving(FakeModelAnswer.of(call("a", "", "{}")));

    assertThat(answered(model, said("go")).calls().getFirst().name()).isEqualTo("unnamed");
  }
}
