package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// An answer that its model did not finish, for an agent that is named and for one that the supervisor chose.
@Timeout(120)
class EarlyEndTest {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "'provider: anthropic, model: c', max_tokens, length, true",
    "'provider: anthropic, model: c', refusal, refusal, false",
    "'provider: openai, model: m', length, length, true",
    "'provider: openai, model: m', content_filter, content-filter, false",
    "'provider: openai, model: g, api: responses', max_output_tokens, length, true",
    "'provider: openai, model: g, api: responses', content_filter, content-filter, false"
  })
  void CHAT_74_the_log_and_the_chat_api_say_why_an_answer_is_not_whole(
      String settings, String stop, String reason, boolean truncated) throws Exception {
    try (var model =
            FakeModelServer.scripted(
                FakeModelAnswer.of(
                    FakeModelAnswer.text("half"),
                    new Step.Used(10, 5, 0, 0),
                    new Step.Stop(stop)));
        var testServer = TestServer.configured(folder, yaml(settings, model))) {
      for (var agent : new String[] {"", "one"}) {
        var message = Json.object().put("content", "go");
        if (!agent.isEmpty()) {
          message.put("agentId", agent);
        }
        var chatTestClient = new ChatTestClient(testServer);
        var sent = chatTestClient.sent(message);
        var completed = chatTestClient.follow(sent).getLast().json();

        var context = "/api/contexts/" + sent.conversationId();
        check(last(chatTestClient.read(context + "/messages").path("items")), reason, truncated);
        var end = last(chatTestClient.read(context + "/events?kinds=task-complete").path("events"));
        assertThat(end.path("taskId").asString()).isEqualTo(sent.taskId());
        check(end, reason, truncated);
        check(last(chatTestClient.messages(sent.conversationId())), reason, truncated);
        var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
        check(result, reason, truncated);
        assertThat(result.path("usage").path("inputTokens").asInt()).isEqualTo(10);
        check(completed, reason, truncated);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "max_tokens, length, true, true",
    "max_tokens, length, true, false",
    "refusal, refusal, false, true",
    "refusal, refusal, false, false",
    "end_turn, '', false, true"
  })
  void CHAT_74_a_program_says_why_its_answer_is_not_whole(
      String stop, String reason, boolean truncated, boolean pieces) throws Exception {
    var whole =
        """
        {"type":"assistant","message":{"id":"m","model":"c","content":[{"type":"text","text":"half"}]}}
        """;
    var inPieces =
        """
        {"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"c"}}}
        {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
        {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}}
        {"type":"stream_event","event":{"type":"content_block_stop","index":0}}
        {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"STOP"},"usage":{"output_tokens":5}}}
        """;
    var result =
        """
        {"type":"result","subtype":"success","result":"half","stop_reason":"STOP"}
        """;
    checkProgram(((pieces ? inPieces : whole) + result).replace("STOP", stop), reason, truncated);
  }

  @Test
  void CHAT_74_a_program_that_refuses_without_a_text_says_so() throws Exception {
    checkProgram(
        """
        {"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"c"}}}
        {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"refusal"}}}
        {"type":"result","subtype":"success","result":"","stop_reason":"refusal"}
        """,
        "refusal",
        false);
  }

  private void checkProgram(String lines, String reason, boolean truncated) throws Exception {
    var printed = Files.writeString(folder.resolve("lines"), lines);
    var yaml =
        """
        agents: [{id: one, type: cli, cli: claude, command: [/bin/sh, -c, "cat >/dev/null & cat %s", sh]}]
        """
            .formatted(printed);
    try (var testServer = TestServer.configured(folder, yaml)) {
      var chatTestClient = new ChatTestClient(testServer);
      var sent = chatTestClient.say("go");
      chatTestClient.follow(sent);

      var context = "/api/contexts/" + sent.conversationId();
      var blocks = chatTestClient.read(context + "/events?kinds=content-complete").path("events");
      assertThat(blocks.size()).isOne();
      assertThat(blocks.get(0).path("finishReason").asString())
          .isEqualTo(reason.isEmpty() ? "stop" : reason);
      check(last(chatTestClient.read(context + "/messages").path("items")), reason, truncated);
      check(
          last(chatTestClient.read(context + "/events?kinds=task-complete").path("events")),
          reason,
          truncated);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "parallel, max_tokens, length, true",
    "sequential, max_tokens, length, true",
    "parallel, refusal, refusal, false"
  })
  void an_answer_that_a_model_made_of_incomplete_ones_says_so_on_every_api(
      String strategy, String stop, String reason, boolean truncated) throws Exception {
    var decision =
        """
        {"strategy":"STRATEGY","reasoning":"","confidence":1,"agents":[
          {"agentId":"one","agentName":"one","taskDescription":"a part","priority":1},
          {"agentId":"two","agentName":"two","taskDescription":"a part","priority":2}]}
        """
            .replace("STRATEGY", strategy);
    try (var model =
            FakeModelServer.answering(
                request -> {
                  var text = request.lastText();
                  if (text.equals("a part")) {
                    return FakeModelAnswer.of(FakeModelAnswer.text("half"), new Step.Stop(stop));
                  }
                  return text.contains("## one")
                      ? FakeModelAnswer.saying("combined")
                      : FakeModelAnswer.saying(decision);
                });
        var testServer =
            TestServer.configured(
                folder,
                yaml("provider: anthropic, model: c", model)
                    .replace("supervisor: {model: rules}", "supervisor: {model: m}"))) {
      var chat = new ChatTestClient(testServer);
      var sent = chat.say("go");
      check(chat.follow(sent).getLast().json(), reason, truncated);
      check(last(chat.messages(sent.conversationId())), reason, truncated);
      var result = chat.read("/chat/tasks/" + sent.taskId()).path("result");
      assertThat(result.path("output").asString()).isEqualTo("combined");
      check(result, reason, truncated);
      assertThat(model.lastRequest().lastText()).contains("[This result is incomplete: ");

      var peer = new A2aTestClient(testServer, "supervisor", "1.0");
      check(peer.send(peer.say("m-1", "go")), reason, truncated);
      var run = new AgUiTestClient(testServer, "supervisor", AgUiTestClient.id()).say("go");
      var finished = Json.object().set("metadata", run.events().getLast().path("result"));
      check(finished, reason, truncated);
    }
  }

  private static String yaml(String settings, FakeModelServer model) {
    return """
    agents: [{id: one, model: m}, {id: two, model: m}]
    supervisor: {model: rules}
    models: {m: {%s, baseUrl: '%s', apiKey: k}, rules: {provider: offline}}
    """
        .formatted(settings, model.url());
  }

  private static JsonNode last(JsonNode list) {
    assertThat(list.size()).as(list.toString()).isPositive();
    return list.path(list.size() - 1);
  }

  private static void check(JsonNode shown, String reason, boolean truncated) {
    var metadata = shown.path("metadata");
    assertThat(metadata.path("finishReason").asString("")).as(shown.toString()).isEqualTo(reason);
    assertThat(metadata.path("truncated").asBoolean(false)).isEqualTo(truncated);
  }
}
