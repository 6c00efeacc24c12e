package dev.parley.mcp;

import dev.parley.mcp.McpFailure.FailureKind;
import dev.parley.mcp.OAuthDiscovery.BearerChallenge;
import dev.parley.mcp.OAuthDiscovery.OAuthServer;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.runtime.Threads;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// A configured server and the connections to it: one shared connection, or one per owner if a
/// sign-in is required. Safe for many threads; the lock guards the connections.
final class McpServerConnections implements AutoCloseable {

  private static final int OWNERS_MAX = 100;

  private final McpServer server;
  private final McpDependencies dependencies;
  private final OAuthDiscovery oAuthDiscovery;
  private final McpConnection shared;
  // Least recently used first.
  private final LinkedHashMap<String, McpConnection> owners = new LinkedHashMap<>(16, 0.75f, true);
  private volatile boolean personal;
  private boolean closed;

  McpServerConnections(
      McpServer server, McpDependencies dependencies, OAuthDiscovery oAuthDiscovery) {
    this.server = server;
    this.dependencies = dependencies;
    this.oAuthDiscovery = oAuthDiscovery;
    this.shared = new McpConnection(server, () -> transport(Optional.empty()), dependencies);
  }

  McpServer server() {
    return server;
  }

  /// True if a sign-in may be required before the tools are listed.
  boolean mayRequireSignIn() {
    return server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint
        && !httpEndpoint.authorized();
  }

  void start() {
    shared.start();
  }

  /// The tools from the first attempt to connect, without an owner.
  List<ListedTool> firstTools() throws McpFailure, InterruptedException {
    return shared.firstTools();
  }

  /// The tools for this owner; empty if they are not known.
  Optional<List<ListedTool>> tools(String owner) throws InterruptedException {
    var mcpConnection = connection(owner);
    var known = mcpConnection.tools();
    if (known.isEmpty() && mcpConnection != connection(owner)) {
      // The first attempt showed that a sign-in is required.
      mcpConnection = connection(owner);
      known = mcpConnection.tools();
    }
    if (known.isEmpty() && unauthorized(mcpConnection) && signedIn(owner)) {
      mcpConnection.retryNow();
      known = mcpConnection.tools();
      reject(owner, mcpConnection);
    }
    return known;
  }

  ToolResult call(String tool, ObjectNode arguments, ToolContext context)
      throws InterruptedException {
    return attempt(
        context,
        mcpConnection -> {
          var mcpSession = mcpConnection.session();
          try {
            return McpResultMapper.of(mcpSession.call(tool, arguments, context, server.timeout()));
          } catch (McpFailure forgotten) {
            if (forgotten.kind() != FailureKind.SESSION_LOST) {
              throw forgotten;
            }
            // The server rejected an unknown session, so it has not executed the call.
            mcpSession.end(forgotten);
          }
          return McpResultMapper.of(
              mcpConnection.session().call(tool, arguments, context, server.timeout()));
        });
  }

  /// Tries to connect.
  ToolResult connect(ToolContext context) throws InterruptedException {
    return attempt(
        context,
        mcpConnection -> {
          mcpConnection.retryNow();
          mcpConnection.session();
          var names = Json.object();
          var tools = names.putArray("tools");
          mcpConnection.tools().orElse(List.of()).forEach(tool -> tools.add(tool.name()));
          return new ToolResult.Done(names);
        });
  }

  /// The authorization server for a sign-in.
  OAuthServer authorization() throws McpFailure, InterruptedException {
    return oAuthDiscovery.find(http(), shared.signInChallenge().orElse(BearerChallenge.NONE));
  }

  @Override
  public void close() {
    var links = new ArrayList<Runnable>();
    synchronized (this) {
      closed = true;
      owners.values().forEach(mcpConnection -> links.add(mcpConnection::close));
      owners.clear();
    }
    links.add(shared::close);
    runAll(dependencies.threads(), links);
  }

  /// Runs all in parallel, and waits.
  static void runAll(Threads threads, List<Runnable> all) {
    for (var thread : all.stream().map(each -> threads.start("mcp-close", each)).toList()) {
      try {
        thread.join();
      } catch (InterruptedException inHaste) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /// An operation on a connection.
  private interface ConnectionUse {
    ToolResult of(McpConnection mcpConnection) throws McpFailure, InterruptedException;
  }

  private ToolResult attempt(ToolContext context, ConnectionUse connectionUse)
      throws InterruptedException {
    var owner = context.owner();
    var mcpConnection = connection(owner);
    if (unauthorized(mcpConnection) && signedIn(owner)) {
      mcpConnection.retryNow();
    }
    try {
      try {
        return connectionUse.of(mcpConnection);
      } catch (McpFailure first) {
        if (first.kind() != FailureKind.UNAUTHORIZED || personal(owner, mcpConnection)) {
          throw first;
        }
        return connectionUse.of(connection(owner));
      }
    } catch (McpFailure mcpFailure) {
      return mcpFailure.kind() == FailureKind.UNAUTHORIZED
          ? signIn(mcpFailure, context)
          : new ToolResult.Failed(mcpFailure.text());
    }
  }

  /// True if the connection belonged to this owner. Otherwise each owner gets a connection from now
  /// on.
  private boolean personal(String owner, McpConnection refused) {
    if (refused != shared) {
      if (signedIn(owner)) {
        dependencies.tokens().reject(owner, server.name());
      }
      return true;
    }
    var httpEndpoint = server.endpoint() instanceof McpServer.HttpEndpoint there ? there : null;
    personal = httpEndpoint != null && !httpEndpoint.authorized();
    return !personal;
  }

  private ToolResult signIn(McpFailure mcpFailure, ToolContext context)
      throws InterruptedException {
    if (!(server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint)
        || httpEndpoint.authorized()) {
      return new ToolResult.Failed(
          "the MCP server " + server.name() + " rejects the configured credentials");
    }
    return switch (context.answer().orElse(null)) {
      case ToolAnswer.Given _ ->
          new ToolResult.Failed("the MCP server " + server.name() + " still requires a sign-in");
      case ToolAnswer.Lapsed(var reason, _) ->
          new ToolResult.Failed(
              "the sign-in to the MCP server " + server.name() + " failed: " + reason);
      case null -> {
        try {
          yield new ToolResult.NeedsSignIn(
              signIn(oAuthDiscovery.find(httpEndpoint, mcpFailure.challenge())));
        } catch (McpFailure lost) {
          yield new ToolResult.Failed(mcpFailure.text() + ", but " + lost.text());
        }
      }
    };
  }

  private ToolSignIn signIn(OAuthServer oauth) {
    var prompt = "Sign in to the MCP server " + server.name() + " at " + oauth.issuer();
    return new ToolSignIn(
        AuthType.OAUTH2, server.name(), oauth.scopes(), prompt, null, null, oauth.json());
  }

  private void reject(String owner, McpConnection mcpConnection) {
    if (unauthorized(mcpConnection)) {
      dependencies.tokens().reject(owner, server.name());
    }
  }

  private boolean signedIn(String owner) {
    return dependencies.tokens().bearer(owner, server.name()).isPresent();
  }

  private static boolean unauthorized(McpConnection mcpConnection) {
    return mcpConnection.signInChallenge().isPresent();
  }

  private McpConnection connection(String owner) {
    if (!(server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint)
        || httpEndpoint.authorized()) {
      return shared;
    }
    if (!personal && unauthorized(shared)) {
      personal = true;
    }
    return personal || signedIn(owner) ? ownConnection(owner) : shared;
  }

  private McpConnection ownConnection(String owner) {
    var idle = new ArrayList<McpConnection>();
    try {
      synchronized (this) {
        var mcpConnection = owners.get(owner);
        if (mcpConnection == null && !closed) {
          mcpConnection =
              new McpConnection(server, () -> transport(Optional.of(owner)), dependencies).start();
          owners.put(owner, mcpConnection);
          if (owners.size() > OWNERS_MAX) {
            idle.add(owners.pollFirstEntry().getValue());
          }
        }
        return mcpConnection == null ? shared : mcpConnection;
      }
    } finally {
      idle.forEach(
          mcpConnection -> dependencies.threads().start("mcp-close", mcpConnection::close));
    }
  }

  private McpTransport transport(Optional<String> owner) {
    return switch (server.endpoint()) {
      case McpServer.StdioEndpoint process ->
          new StdioTransport(process, dependencies, server.name());
      case McpServer.HttpEndpoint there ->
          new HttpTransport(
              there,
              new HttpTransport.HttpTransportDependencies(
                  dependencies.http(),
                  dependencies.time(),
                  dependencies.threads(),
                  () -> owner.flatMap(who -> dependencies.tokens().bearer(who, server.name()))));
    };
  }

  private McpServer.HttpEndpoint http() throws McpFailure {
    if (server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint) {
      return httpEndpoint;
    }
    throw new McpFailure(
        FailureKind.REJECTED, server.name() + " is a local MCP server without sign-in");
  }
}
