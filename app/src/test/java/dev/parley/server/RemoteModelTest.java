package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A server whose agent asks a model over the network, in each of the APIs.
class RemoteModelTest {

  private static final String ANTHROPIC = "provider: anthropic, model: claude-opus-4-8";
  private static final String CHAT = "provider: openai, model: m";
  private static final String RESPONSES = "provider: openai, model: gpt-5, api: responses";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {ANTHROPIC, CHAT, RESPONSES})
  void it_thinks_calls_a_tool_and_answers(String settings) throws Exception {
    try (var model =
        FakeModelServer.answering(
            receivedRequest ->
                receivedRequest.afterCall()
                    ? FakeModelAnswer.saying("It is ", "42.")
                    : FakeModelAnswer.of(
                        FakeModelAnswer.thinking("signed", "I had better calculate."),
                        FakeModelAnswer.call("c1", "calculator", "{\"expres", "sion\":\"6*7\"}"),
                        new FakeModelAnswer.Step.Used(1000, 100, 0, 0)))) {
      var events = ask(settings + ", prices: {input: 2, output: 10}", model);

      assertThat(of(events, ToolComplete.class)).singleElement().matches(ToolComplete::success);
      assertThat(of(events, ThoughtStream.class).getFirst().content()).contains("calculate");
      assertThat(of(events, ContentDelta.class).stream().map(ContentDelta::delta))
          .containsExactly("It is ", "42.");
      assertThat(of(events, Usage.class).getFirst().costUsd()).isEqualByComparingTo("0.003");
      assertThat(of(events, TaskComplete.class)).hasSize(1);
      assertThat(model.requests()).hasSize(2);
      assertThat(model.lastRequest().lastText()).contains("42");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {ANTHROPIC, CHAT, RESPONSES})
  void a_key_that_is_refused_fails_the_task_and_is_told_without_it(String settings)
      throws Exception {
    try (var model =
        FakeModelServer.scripted(
            FakeModelAnswer.refusing(401, "{\"error\":{\"message\":\"bad key sk-test\"}}"))) {
      var events = ask(settings, model);

      var error = of(events, ErrorReported.class).getFirst();
      assertThat(error.code().wire()).isEqualTo("auth");
      assertThat(events.toString()).contains("bad key").doesNotContain("sk-test");
    }
  }

  private List<Entry> ask(String settings, FakeModelServer model)
      throws IOException, InterruptedException {
    var yaml =
        "agents: [{id: one}]\nmodels: {m: {%s, baseUrl: '%s', apiKey: sk-test}}"
            .formatted(settings, model.url());
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    var config =
        Config.load(
                file, new Config.ProcessEnvironment(Map.of(), folder, folder), TestServer.MODULES)
            .listeningOn("127.0.0.1", 0)
            .keepingDataIn(folder.resolve("data"));
    var events = new ArrayList<Entry>();
    try (var server = Server.start(config, TestServer.MODULES);
        var client = new ParleyClient(URI.create(server.url()));
        var answer = client.ask("what is 6*7?")) {
      answer.forEach(events::add);
    }
    return events;
  }

  private static <T> List<T> of(List<Entry> events, Class<T> type) {
    return events.stream().map(Entry::event).filter(type::isInstance).map(type::cast).toList();
  }
}
