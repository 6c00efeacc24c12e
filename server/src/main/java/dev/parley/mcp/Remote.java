package dev.parley.mcp;

import dev.parley.mcp.Trouble.Kind;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.tool.Answer;
import dev.parley.tool.SignIn;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// A configured server and the connections to it: one shared connection, or one per owner if a
/// sign-in is required. Safe for many threads; the lock guards the connections.
final class Remote implements AutoCloseable {

  private static final int OWNERS_MAX = 100;

  private final McpServer server;
  private final McpServers.Parts parts;
  private final Discovery discovery;
  private final Link shared;
  // Least recently used first.
  private final LinkedHashMap<String, Link> owners = new LinkedHashMap<>(16, 0.75f, true);
  private volatile boolean personal;
  private boolean closed;

  Remote(McpServer server, McpServers.Parts parts, Discovery discovery) {
    this.server = server;
    this.parts = parts;
    this.discovery = discovery;
    this.shared = new Link(server, () -> wire(Optional.empty()), parts.pace(), parts.version());
  }

  McpServer server() {
    return server;
  }

  /// True if a sign-in may be required before the tools are listed.
  boolean signsIn() {
    return server.endpoint() instanceof McpServer.Http http && !http.authorized();
  }

  void start() {
    shared.start();
  }

  /// The tools from the first attempt to connect, without an owner.
  List<Listed> firstTools() throws Trouble, InterruptedException {
    return shared.firstTools();
  }

  /// The tools for this owner; empty if they are not known.
  Optional<List<Listed>> tools(String owner) throws InterruptedException {
    var link = link(owner);
    var known = link.tools();
    if (known.isEmpty() && link != link(owner)) {
      // The first attempt showed that a sign-in is required.
      link = link(owner);
      known = link.tools();
    }
    if (known.isEmpty() && unauthorized(link) && signedIn(owner)) {
      link.poke();
      known = link.tools();
      reject(owner, link);
    }
    return known;
  }

  ToolResult call(String tool, ObjectNode arguments, ToolContext context)
      throws InterruptedException {
    return attempt(
        context,
        link -> {
          var session = link.session();
          try {
            return Results.of(session.call(tool, arguments, context, server.timeout()));
          } catch (Trouble forgotten) {
            if (forgotten.kind() != Kind.FORGOTTEN) {
              throw forgotten;
            }
            // The server rejected an unknown session, so it has not executed the call.
            session.end(forgotten);
          }
          return Results.of(link.session().call(tool, arguments, context, server.timeout()));
        });
  }

  /// Tries to connect.
  ToolResult connect(ToolContext context) throws InterruptedException {
    return attempt(
        context,
        link -> {
          link.poke();
          link.session();
          var names = Json.object();
          var tools = names.putArray("tools");
          link.tools().orElse(List.of()).forEach(tool -> tools.add(tool.name()));
          return new ToolResult.Done(names);
        });
  }

  /// The authorization server for a sign-in.
  OAuthServer authorization() throws Trouble, InterruptedException {
    return discovery.find(http(), shared.refused().orElse(Challenge.NONE));
  }

  @Override
  public void close() {
    var links = new ArrayList<Runnable>();
    synchronized (this) {
      closed = true;
      owners.values().forEach(link -> links.add(link::close));
      owners.clear();
    }
    links.add(shared::close);
    McpServers.runAll(links);
  }

  /// An operation on a connection.
  private interface Use {
    ToolResult of(Link link) throws Trouble, InterruptedException;
  }

  private ToolResult attempt(ToolContext context, Use use) throws InterruptedException {
    var owner = context.owner();
    var link = link(owner);
    if (unauthorized(link) && signedIn(owner)) {
      link.poke();
    }
    try {
      try {
        return use.of(link);
      } catch (Trouble first) {
        if (first.kind() != Kind.UNAUTHORIZED || personal(owner, link)) {
          throw first;
        }
        return use.of(link(owner));
      }
    } catch (Trouble trouble) {
      return trouble.kind() == Kind.UNAUTHORIZED
          ? signIn(trouble, context)
          : new ToolResult.Failed(trouble.text());
    }
  }

  /// True if the connection belonged to this owner. Otherwise each owner gets a connection from now
  /// on.
  private boolean personal(String owner, Link refused) {
    if (refused != shared) {
      if (signedIn(owner)) {
        parts.tokens().reject(owner, server.name());
      }
      return true;
    }
    var http = server.endpoint() instanceof McpServer.Http there ? there : null;
    personal = http != null && !http.authorized();
    return !personal;
  }

  private ToolResult signIn(Trouble trouble, ToolContext context) throws InterruptedException {
    if (!(server.endpoint() instanceof McpServer.Http http) || http.authorized()) {
      return new ToolResult.Failed(
          "the MCP server " + server.name() + " rejects the configured credentials");
    }
    return switch (context.answer().orElse(null)) {
      case Answer.Given _ ->
          new ToolResult.Failed("the MCP server " + server.name() + " still requires a sign-in");
      case Answer.Lapsed(var reason, _) ->
          new ToolResult.Failed(
              "the sign-in to the MCP server " + server.name() + " failed: " + reason);
      case null -> {
        try {
          yield new ToolResult.NeedsSignIn(signIn(discovery.find(http, trouble.challenge())));
        } catch (Trouble lost) {
          yield new ToolResult.Failed(trouble.text() + ", but " + lost.text());
        }
      }
    };
  }

  private SignIn signIn(OAuthServer oauth) {
    var prompt = "Sign in to the MCP server " + server.name() + " at " + oauth.issuer();
    return new SignIn(
        AuthType.OAUTH2, server.name(), oauth.scopes(), prompt, null, null, oauth.json());
  }

  private void reject(String owner, Link link) {
    if (unauthorized(link)) {
      parts.tokens().reject(owner, server.name());
    }
  }

  private boolean signedIn(String owner) {
    return parts.tokens().bearer(owner, server.name()).isPresent();
  }

  private static boolean unauthorized(Link link) {
    return link.refused().isPresent();
  }

  private Link link(String owner) {
    if (!(server.endpoint() instanceof McpServer.Http http) || http.authorized()) {
      return shared;
    }
    if (!personal && unauthorized(shared)) {
      personal = true;
    }
    return personal || signedIn(owner) ? own(owner) : shared;
  }

  private Link own(String owner) {
    var idle = new ArrayList<Link>();
    try {
      synchronized (this) {
        var link = owners.get(owner);
        if (link == null && !closed) {
          link =
              new Link(server, () -> wire(Optional.of(owner)), parts.pace(), parts.version())
                  .start();
          owners.put(owner, link);
          if (owners.size() > OWNERS_MAX) {
            idle.add(owners.pollFirstEntry().getValue());
          }
        }
        return link == null ? shared : link;
      }
    } finally {
      idle.forEach(link -> Thread.ofVirtual().name("mcp-close").start(link::close));
    }
  }

  private Wire wire(Optional<String> owner) {
    return switch (server.endpoint()) {
      case McpServer.Stdio process -> Wire.to(process, server.name(), parts);
      case McpServer.Http there ->
          Wire.to(there, () -> owner.flatMap(who -> parts.tokens().bearer(who, server.name())));
    };
  }

  private McpServer.Http http() throws Trouble {
    if (server.endpoint() instanceof McpServer.Http http) {
      return http;
    }
    throw new Trouble(Kind.REFUSED, server.name() + " is a local MCP server without sign-in");
  }
}
