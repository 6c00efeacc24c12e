package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

class OpenAiResponsesModelTest extends UnreliableModelContract {

  @Override
  Model model(
      OutgoingHttpClient connections,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    return new OpenAiModel(
        OpenAiModel.OpenAiApi.RESPONSES, connections, settings, modelLimits, sources);
  }

  @Override
  String modelName() {
    return "gpt-5";
  }

  @Override
  String lengthReason() {
    return "max_output_tokens";
  }

  @Override
  List<JsonNode> messages(FakeModelServer.ReceivedRequest receivedRequest) {
    return receivedRequest.body().path("input").valueStream().toList();
  }

  @Override
  FakeModelAnswer formed(String talk, String... json) {
    return FakeModelAnswer.of(text(talk), text(json));
  }

  @Override
  void checkMemo(FakeModelServer.ReceivedRequest receivedRequest) {
    assertThat(messages(receivedRequest).subList(1, 5).stream().map(JsonNode::toString))
        .containsExactly(
            "{\"type\":\"reasoning\",\"id\":\"rs_0\",\"summary\":[{\"type\":\"summary_text\","
                + "\"text\":\"First.\"}],\"encrypted_content\":\"signed-1\"}",
            "{\"role\":\"assistant\",\"content\":\"Let me look. \"}",
            "{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":[{\"type\":\"summary_text\","
                + "\"text\":\"Second.\"}],\"encrypted_content\":\"signed-2\"}",
            "{\"type\":\"function_call\",\"call_id\":\"call_a\",\"name\":\"clock\","
                + "\"arguments\":\"{}\"}");
  }

  private JsonNode body() {
    return server.lastRequest().body();
  }

  @Test
  void it_asks_as_the_api_wants_it_and_leaves_nothing_there() throws Exception {
    var wanted = new ToolCall(new ToolCallId("c"), "calculator", Json.object());

    answered(
        serving(saying("x")),
        said("go"),
        new PromptPart.PromptToolCalls("Hm.", List.of(wanted), null),
        new PromptPart.PromptToolResult(
            wanted.id(), "calculator", true, Json.object().put("value", 2)));

    assertThat(server.lastRequest().path()).isEqualTo("/v1/responses");
    assertThat(body().path("store").asBoolean(true)).isFalse();
    assertThat(body().path("instructions").asString()).isEqualTo("Be brief.");
    assertThat(body().path("include").path(0).asString()).isEqualTo("reasoning.encrypted_content");
    assertThat(body().path("tools").path(0).path("strict").asBoolean(true)).isFalse();
    assertThat(messages(server.lastRequest()).stream().map(JsonNode::toString))
        .containsExactly(
            "{\"role\":\"user\",\"content\":\"go\"}",
            "{\"role\":\"assistant\",\"content\":\"Hm.\"}",
            "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"calculator\",\"arguments\":\"{}\"}",
            "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{\\\"value\\\":2}\"}");
  }

  @Test
  void only_models_that_reason_are_asked_what_they_reasoned() throws Exception {
    serving(saying("x"));

    answered(
        model(new ModelSettings("gpt-4o", server.url(), KEY, 50, 0, null), BOUNDS), said("go"));
    assertThat(body().has("include")).isFalse();
    assertThat(body().path("max_output_tokens").asInt()).isEqualTo(50);
    answered(
        model(new ModelSettings("mine", server.url(), KEY, null, 20_000, null), BOUNDS),
        said("go"));

    assertThat(body().has("include")).isTrue();
    assertThat(body().path("reasoning").toString())
        .isEqualTo("{\"effort\":\"high\",\"summary\":\"auto\"}");
  }

  @ParameterizedTest
  @CsvSource({"max_output_tokens, LENGTH", "content_filter, CONTENT_FILTER"})
  void every_reason_to_stop_has_a_name(String reason, FinishReason expected) throws Exception {
    var model = serving(FakeModelAnswer.of(text("x"), new Step.Stop(reason)));

    assertThat(answered(model, said("go")).reason()).isEqualTo(expected);
  }

  @Test
  void a_response_that_failed_is_told() throws Exception {
    var event =
        "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":"
            + "{\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\"}}}\n\n";

    var reply = failed(serving(FakeModelAnswer.of(text("x"), new Step.Raw(event))));

    assertThat(reply)
        .isEqualTo(
            new ModelReply.ModelError(
                ErrorCode.RATE_LIMITED, "the model's rate limit is exceeded: slow down", true));
  }

  @Test
  void reasoning_that_is_not_encrypted_does_not_go_back() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                FakeModelAnswer.thinking("", "hm"), FakeModelAnswer.call("c", "clock", "{}")),
            saying("x"));
    var asked = answered(model, said("go"));

    answered(
        model,
        said("go"),
        new PromptPart.PromptToolCalls("", asked.calls(), asked.memo()),
        new PromptPart.PromptToolResult(
            new ToolCallId("c"), "clock", true, StringNode.valueOf("noon")));

    assertThat(body().path("input").toString()).doesNotContain("reasoning");
  }
}
