package dev.parley.mcp;

import dev.parley.mcp.OAuthDiscovery.OAuthServer;
import dev.parley.runtime.Threads;
import dev.parley.tool.Toolbox;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The configured MCP servers, and the connections to them. Safe for many threads.
public final class McpServers implements AutoCloseable {

  /// The prefix of MCP tools in a configuration: `mcp:server` for all tools of a server,
  /// `mcp:server/tool` for one.
  public static final String PREFIX = "mcp:";

  private final Map<String, McpServerConnections> remotes = new LinkedHashMap<>();
  private final Threads threads;

  public McpServers(List<McpServer> servers, McpDependencies dependencies) {
    threads = dependencies.threads();
    var oAuthDiscovery = new OAuthDiscovery(dependencies.http(), dependencies.addresses());
    for (var server : servers) {
      if (remotes.put(server.name(), new McpServerConnections(server, dependencies, oAuthDiscovery))
          != null) {
        throw new IllegalArgumentException("two MCP servers have the name " + server.name());
      }
    }
  }

  /// Starts connecting to all servers, in the background. Call it once.
  public McpServers start() {
    remotes.values().forEach(McpServerConnections::start);
    return this;
  }

  /// The tools that a configuration requests, of the names with [#PREFIX]; no tool gets a name that
  /// is in `taken`.
  public Toolbox toolbox(List<String> wanted, Set<String> taken) {
    var choices =
        wanted.stream().filter(name -> name.startsWith(PREFIX)).map(this::choice).toList();
    return choices.isEmpty() ? Toolbox.of(List.of()) : new McpToolbox(choices, Set.copyOf(taken));
  }

  /// The outcome of a first attempt to connect to a server.
  public sealed interface ConnectionCheck {

    /// It is connected, and lists so many tools.
    record Connected(int tools) implements ConnectionCheck {}

    /// It requires a sign-in.
    record SignInNeeded() implements ConnectionCheck {}

    /// It is not available.
    record ConnectionFailed(String reason) implements ConnectionCheck {}
  }

  /// Waits for the first attempt to connect to a server, and returns its outcome.
  public ConnectionCheck check(String server) throws InterruptedException {
    var mcpServerConnections = remotes.get(server);
    if (mcpServerConnections == null) {
      throw new IllegalArgumentException("there is no MCP server " + server);
    }
    try {
      return new ConnectionCheck.Connected(mcpServerConnections.firstTools().size());
    } catch (McpFailure mcpFailure) {
      return mcpFailure.kind() == McpFailure.FailureKind.UNAUTHORIZED
          ? new ConnectionCheck.SignInNeeded()
          : new ConnectionCheck.ConnectionFailed(mcpFailure.text().replaceAll("\\s*\\R\\s*", " "));
    }
  }

  /// The authorization server for a sign-in to this server, discovered again; empty if there is
  /// none.
  public Optional<OAuthServer> authorization(String server) throws InterruptedException {
    try {
      var mcpServerConnections = remotes.get(server);
      return mcpServerConnections == null
          ? Optional.empty()
          : Optional.of(mcpServerConnections.authorization());
    } catch (McpFailure unknown) {
      return Optional.empty();
    }
  }

  /// Closes all connections and stops all processes, in parallel, within seconds.
  @Override
  public void close() {
    McpServerConnections.runAll(
        threads,
        remotes.values().stream()
            .<Runnable>map(mcpServerConnections -> mcpServerConnections::close)
            .toList());
  }

  private McpToolbox.ToolSelection choice(String wanted) {
    var parts = wanted.substring(PREFIX.length()).split("/", 2);
    var mcpServerConnections = remotes.get(parts[0]);
    if (mcpServerConnections == null) {
      throw new IllegalArgumentException("there is no MCP server " + parts[0]);
    }
    return new McpToolbox.ToolSelection(
        mcpServerConnections, parts.length == 1 ? Optional.empty() : Optional.of(parts[1]));
  }
}
