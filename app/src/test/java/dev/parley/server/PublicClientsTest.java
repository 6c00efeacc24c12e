package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Clients from npm, which `./check` installs, go through the APIs: CORE-24.
@Timeout(120)
class PublicClientsTest {

  @TempDir Path folder;

  @Test
  void the_samples_of_the_chat_document_run_with_a_real_event_source_s1_41_s1_42_s1_45()
      throws Exception {
    runOnUsual("clients", "chat.mjs");
  }

  @ParameterizedTest
  @ValueSource(strings = {"agui", "agui-0", "copilotkit"})
  void real_clients_of_ag_ui_run_the_same_scenarios(String group) throws Exception {
    runOnUsual(group, "runs.mjs");
  }

  @Test
  void the_client_and_the_agent_sdk_of_openai_run_agents_as_models() throws Exception {
    runOnUsual("openai", "runs.mjs");
  }

  @Test
  void the_client_of_mcp_calls_agents_as_tools() throws Exception {
    runOnUsual("mcp-clients", "client.mjs");
  }

  @ParameterizedTest
  @CsvSource({"a2a, JSONRPC", "a2a, HTTP+JSON", "a2a-03, JSONRPC", "a2a-03, HTTP+JSON"})
  void clients_of_the_a2a_sdk_send_stream_list_cancel_subscribe_and_are_pushed_to(
      String group, String transport) throws Exception {
    var config =
        """
        agents: [{id: kit, type: conformance}]
        a2a: {privateWebhooks: true}
        """;
    try (var testServer =
        TestServer.durable(folder.resolve("data"), TestServer.Wish.USUAL, config)) {
      var card = testServer.url.resolve("/a2a/kit/.well-known/agent-card.json").toString();
      run(script(group, "client.mjs").toString(), card, transport);
    }
  }

  private void runOnUsual(String group, String name) throws IOException, InterruptedException {
    try (var testServer = TestServer.durable(folder.resolve("data"), TestServer.Wish.USUAL)) {
      run(script(group, name).toString(), testServer.url.toString());
    }
  }

  /// Runs a script of Node's, which must end well.
  private void run(String... words) throws IOException, InterruptedException {
    var printed = folder.resolve("printed.txt");
    var command = new ArrayList<>(List.of("node"));
    command.addAll(List.of(words));
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    var ended = process.waitFor(90, TimeUnit.SECONDS);
    process.destroyForcibly();
    assertThat(ended).as(Files.readString(printed)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(printed)).isZero();
  }

  /// Tests fail without the peers: there is no point in passing unseen.
  private static Path script(String group, String name) {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    var folder = peers.resolve(group);
    if (!Files.isDirectory(folder.resolve("node_modules"))) {
      fail("%s has no node_modules: ./check installs them, or npm ci there", folder);
    }
    return folder.resolve(name);
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }
}
