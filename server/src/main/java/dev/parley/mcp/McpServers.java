package dev.parley.mcp;

import dev.parley.net.AddressPolicy;
import dev.parley.tool.Toolbox;
import dev.parley.tool.process.Children;
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

  /// The dependencies; `version` is the version that Parley reports to servers, and `addresses`
  /// decides which addresses a sign-in may use.
  public record Parts(
      Children children, Tokens tokens, Pace pace, String version, AddressPolicy addresses) {}

  private final Map<String, Remote> remotes = new LinkedHashMap<>();
  private final Discovery discovery;

  public McpServers(List<McpServer> servers, Parts parts) {
    discovery = new Discovery(parts.addresses());
    for (var server : servers) {
      if (remotes.put(server.name(), new Remote(server, parts, discovery)) != null) {
        throw new IllegalArgumentException("two MCP servers have the name " + server.name());
      }
    }
  }

  /// Starts connecting to all servers, in the background. Call it once.
  public McpServers start() {
    remotes.values().forEach(Remote::start);
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
  public sealed interface Checked {

    /// It is connected, and lists so many tools.
    record Up(int tools) implements Checked {}

    /// It requires a sign-in.
    record SignInNeeded() implements Checked {}

    /// It is not available.
    record Down(String reason) implements Checked {}
  }

  /// Waits for the first attempt to connect to a server, and returns its outcome.
  public Checked check(String server) throws InterruptedException {
    var remote = remotes.get(server);
    if (remote == null) {
      throw new IllegalArgumentException("there is no MCP server " + server);
    }
    try {
      return new Checked.Up(remote.firstTools().size());
    } catch (Trouble trouble) {
      return trouble.kind() == Trouble.Kind.UNAUTHORIZED
          ? new Checked.SignInNeeded()
          : new Checked.Down(trouble.text().replaceAll("\\s*\\R\\s*", " "));
    }
  }

  /// The authorization server for a sign-in to this server, discovered again; empty if there is
  /// none.
  public Optional<OAuthServer> authorization(String server) throws InterruptedException {
    try {
      var remote = remotes.get(server);
      return remote == null ? Optional.empty() : Optional.of(remote.authorization());
    } catch (Trouble unknown) {
      return Optional.empty();
    }
  }

  /// Closes all connections and stops all processes, in parallel, within seconds.
  @Override
  public void close() {
    runAll(remotes.values().stream().<Runnable>map(remote -> remote::close).toList());
    discovery.close();
  }

  private McpToolbox.Choice choice(String wanted) {
    var parts = wanted.substring(PREFIX.length()).split("/", 2);
    var remote = remotes.get(parts[0]);
    if (remote == null) {
      throw new IllegalArgumentException("there is no MCP server " + parts[0]);
    }
    return new McpToolbox.Choice(
        remote, parts.length == 1 ? Optional.empty() : Optional.of(parts[1]));
  }

  /// Runs all in parallel, and waits.
  static void runAll(List<Runnable> all) {
    var threads =
        all.stream().map(each -> Thread.ofVirtual().name("mcp-close").start(each)).toList();
    for (var thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException inHaste) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
