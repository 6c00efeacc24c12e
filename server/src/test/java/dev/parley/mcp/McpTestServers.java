package dev.parley.mcp;

import static org.assertj.core.api.Assertions.fail;

import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.tool.Tool;
import dev.parley.tool.process.ManagedProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/// The servers of the tests: real ones from npm, which `./check` installs, and one that misbehaves.
public final class McpTestServers {

  static final McpTimeouts TIMEOUTS =
      new McpTimeouts(
          Duration.ofSeconds(30),
          Duration.ofMillis(50),
          Duration.ofMillis(400),
          Duration.ofSeconds(2),
          Duration.ofSeconds(10),
          Duration.ofMinutes(1));

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private McpTestServers() {}

  /// The script of an MCP server from npm. Tests fail if it is missing, so that they are never
  /// skipped unnoticed.
  public static Path script(String name) {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    var script =
        peers.resolve("mcp/node_modules/@modelcontextprotocol/server-" + name + "/dist/index.js");
    if (!Files.isReadable(script)) {
      fail("%s is missing: ./check installs it, or npm ci in the folder peers/mcp", script);
    }
    return script;
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }

  static McpServer everything() {
    return stdio("everything", Path.of(""), script("everything").toString(), "stdio");
  }

  static McpServer odd(Path folder, String... mode) {
    return odd(folder, TIMEOUT, mode);
  }

  static McpServer odd(Path folder, Duration timeout, String... mode) {
    var words = new ArrayList<>(List.of("node", oddServer().toString()));
    words.addAll(List.of(mode));
    return new McpServer(
        "odd", new McpServer.StdioEndpoint(words, environment(), folder), null, null, timeout);
  }

  /// The script of a server that violates the protocol.
  public static Path oddServer() {
    try {
      return Path.of(
          Objects.requireNonNull(McpTestServers.class.getResource("odd-server.js")).toURI());
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static McpServer stdio(String name, Path folder, String... words) {
    var command = new ArrayList<>(List.of("node"));
    command.addAll(List.of(words));
    return new McpServer(
        name,
        new McpServer.StdioEndpoint(command, environment(), folder.toAbsolutePath()),
        null,
        null,
        TIMEOUT);
  }

  private static final Threads THREADS = new SystemThreads();
  private static final Time TIME = new SystemTime(THREADS);

  static Map<String, String> environment() {
    return Map.of("PATH", System.getenv("PATH"), "TOLD", "yes");
  }

  static McpServers start(McpServer... servers) {
    return start(McpTokenProvider.NONE, servers);
  }

  static McpServers start(Time time, McpServer server) {
    return new McpServers(List.of(server), parts(McpTokenProvider.NONE, TIMEOUTS, time)).start();
  }

  static McpServers start(McpTokenProvider mcpTokenProvider, McpServer... servers) {
    return new McpServers(List.of(servers), parts(mcpTokenProvider, TIMEOUTS)).start();
  }

  static McpDependencies parts(McpTokenProvider mcpTokenProvider, McpTimeouts mcpTimeouts) {
    return parts(mcpTokenProvider, mcpTimeouts, TIME);
  }

  private static McpDependencies parts(
      McpTokenProvider mcpTokenProvider, McpTimeouts mcpTimeouts, Time time) {
    try {
      var children = Files.createTempDirectory("parley-children");
      children.toFile().deleteOnExit();
      return new McpDependencies(
          new ManagedProcesses(children, () -> UUID.randomUUID().toString()),
          mcpTokenProvider,
          mcpTimeouts,
          "test",
          new AddressPolicy(Set.of()),
          new OutgoingHttpClient(time, THREADS),
          time,
          THREADS);
    } catch (IOException full) {
      throw new UncheckedIOException(full);
    }
  }

  static List<Tool> tools(McpServers servers, String wanted, String owner) throws Exception {
    return servers.toolbox(List.of(wanted), Set.of()).tools(owner).stream()
        .filter(Tool::offered)
        .toList();
  }

  /// The tool with this name, for the owner `local`.
  static Tool tool(McpServers servers, String server, String name) throws Exception {
    var tools = tools(servers, "mcp:" + server, "local");
    return tools.stream()
        .filter(tool -> tool.name().equals(server + "_" + name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is not in " + names(tools)));
  }

  static List<String> names(List<Tool> tools) {
    return tools.stream().map(Tool::name).toList();
  }
}
