package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.EverythingServer;
import dev.parley.mcp.McpTestServers;
import dev.parley.mcp.ProtectedServer;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks of models, MCP servers and remote agents, against real servers on this machine.
class DiagnosisTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "provider: anthropic",
        "provider: openai",
        "provider: openai, api: responses",
      })
  void a_model_that_answers_is_ok_and_is_asked_once_for_little(String settings) throws Exception {
    try (var model = FakeModelServer.scripted(FakeModelAnswer.saying("ok"))) {
      var diagnosisFinding = model(settings, model.url());

      assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.OK);
      assertThat(model.requests()).hasSize(1);
      assertThat(model.requests().getFirst().body().toString())
          .containsPattern("max_(output_|completion_)?tokens\":16");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "401 | invalid x-api-key sk-test | the key is rejected",
        "403 | no access | the key is rejected",
        "404 | model: m9 | the model is not known there",
        "400 | unknown parameter | the request is rejected",
        "429 | slow down | its limit is reached",
        "500 | oops | failed with 500: oops",
      })
  void failures_of_a_model_are_told_apart(int status, String message, String words)
      throws Exception {
    var body = "{\"error\":{\"message\":\"" + message + "\"}}";
    try (var model = FakeModelServer.scripted(FakeModelAnswer.refusing(status, body))) {
      var diagnosisFinding = model("provider: anthropic", model.url());

      assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
      assertThat(diagnosisFinding.text()).contains(words).doesNotContain("sk-test");
      assertThat(model.requests()).hasSize(1);
    }
  }

  @Test
  void a_model_that_only_thinks_within_so_short_an_answer_is_ok() throws Exception {
    var answer = FakeModelAnswer.of(new FakeModelAnswer.Step.Stop("max_tokens"));
    try (var model = FakeModelServer.scripted(answer)) {
      assertThat(model("provider: anthropic", model.url()).grade()).isEqualTo(DiagnosisGrade.OK);
    }
  }

  @Test
  void a_model_whose_server_is_not_there_cannot_be_reached() throws Exception {
    var diagnosisFinding = model("provider: openai", nobody());

    assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
    assertThat(diagnosisFinding.text()).contains("cannot reach");
  }

  @Test
  void a_model_that_never_answers_ends_the_check_in_time() throws Exception {
    try (var silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      var url = URI.create("http://127.0.0.1:" + silent.getLocalPort());
      var config = load("models: {m: {provider: openai, apiKey: k, baseUrl: '" + url + "'}}");

      var diagnosisFinding = first(new Diagnosis(config, Duration.ofMillis(200)));

      assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
    }
  }

  @Test
  void the_tools_of_real_mcp_servers_are_counted() throws Exception {
    var script = McpTestServers.script("everything");
    try (var peer = EverythingServer.start()) {
      var config =
          load(
              "mcpServers: {here: {command: [node, '%s', stdio]}, there: {url: '%s'}}"
                  .formatted(script, peer.url()));

      assertThat(new Diagnosis(config).checks().stream().skip(1))
          .hasSize(2)
          .allSatisfy(
              diagnosisCheck -> {
                var diagnosisFinding = diagnosisCheck.finding();
                assertThat(diagnosisFinding.grade())
                    .as(diagnosisFinding.text())
                    .isEqualTo(DiagnosisGrade.OK);
                assertThat(diagnosisFinding.text())
                    .containsPattern("is up, with [1-9][0-9]* tools");
              });
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "command: [no-such-program-anywhere] | there is no program no-such-program-anywhere",
        "command: [/no/such/program] | there is no program /no/such/program",
        "command: [sh, '-c', 'echo cannot find the database >&2; exit 3'] | cannot find the"
            + " database",
        "url: 'http://127.0.0.1:1/mcp' | the MCP server e",
      })
  void an_mcp_server_that_cannot_be_used_is_a_problem(String settings, String words)
      throws Exception {
    var config = load("mcpServers: {e: {" + settings + "}}");

    var diagnosisFinding = new Diagnosis(config).checks().getLast().finding();

    assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
    assertThat(diagnosisFinding.text()).contains(words);
  }

  @Test
  void an_mcp_server_that_requires_a_sign_in_is_a_warning() throws Exception {
    try (var server = new ProtectedServer()) {
      var config = load("mcpServers: {e: {url: '" + server.url("/mcp") + "'}}");

      var diagnosisFinding = new Diagnosis(config).checks().getLast().finding();

      assertThat(diagnosisFinding.grade())
          .as(diagnosisFinding.text())
          .isEqualTo(DiagnosisGrade.WARNING);
      assertThat(diagnosisFinding.text()).contains("requires a sign-in");
    }
  }

  @Test
  void the_card_of_a_remote_agent_is_fetched() throws Exception {
    var data = folder.resolve("other");
    try (var other =
        Server.start(TestServer.config(folder).listeningOn("127.0.0.1", 0).keepingDataIn(data))) {
      var known = load("agents: [{id: far, type: a2a, url: '" + other.url() + "'}]");
      var unknown = load("agents: [{id: far, type: a2a, url: '" + nobody() + "'}]");

      assertThat(new Diagnosis(known).checks().getLast().finding())
          .matches(
              diagnosisFinding ->
                  diagnosisFinding.grade() == DiagnosisGrade.OK
                      && diagnosisFinding.text().contains(other.url()));
      assertThat(new Diagnosis(unknown).checks().getLast().finding().grade())
          .isEqualTo(DiagnosisGrade.FAILURE);
    }
  }

  @Test
  void the_reason_why_a_remote_agent_cannot_be_reached_is_in_words() throws Exception {
    for (var type : List.of("a2a", "proxy")) {
      var refused = load("agents: [{id: far, type: %s, url: '%s'}]".formatted(type, nobody()));
      var unknown =
          load("agents: [{id: far, type: %s, url: 'http://no-such.invalid'}]".formatted(type));

      assertThat(new Diagnosis(refused).checks().getLast().finding().text())
          .contains("the connection was refused")
          .doesNotContain("Exception");
      assertThat(new Diagnosis(unknown).checks().getLast().finding().text())
          .contains("its host name is unknown")
          .doesNotContain("Exception");
    }
  }

  @Test
  void a_service_that_is_not_there_is_a_problem() throws Exception {
    var config = load("agents: [{id: far, type: proxy, url: '" + nobody() + "'}]");

    var diagnosisFinding = new Diagnosis(config).checks().getLast().finding();

    assertThat(diagnosisFinding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
    assertThat(diagnosisFinding.text()).contains("cannot reach");
  }

  private DiagnosisFinding model(String settings, URI url) throws Exception {
    return first(
        new Diagnosis(
            load(
                "models: {m: {%s, model: m9, baseUrl: '%s', apiKey: sk-test}}"
                    .formatted(settings, url))));
  }

  private static DiagnosisFinding first(Diagnosis diagnosis) throws InterruptedException {
    return diagnosis.checks().getFirst().finding();
  }

  /// An address where nobody listens.
  private static URI nobody() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("http://127.0.0.1:" + free.getLocalPort());
    }
  }

  private Config load(String yaml) throws IOException {
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    var environment = Map.of("PATH", System.getenv("PATH"));
    return Config.load(
        file, new Config.ProcessEnvironment(environment, folder, folder), TestServer.MODULES);
  }
}
