package dev.parley.http;

import dev.parley.audit.AuditEvent.Actor;
import dev.parley.http.BlockingCall.JettyConnection;
import dev.parley.http.ForwardedClient.ForwardedConnection;
import dev.parley.http.Problem.HttpProblemException;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.AccessPolicy.Resource;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.identity.CallerKind;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import dev.parley.tool.process.ClientProcessCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Connects Jetty with the routes: authenticates the caller, finds the route, and writes the reply.
final class JettyHandler extends RequestHandler {

  private static final System.Logger LOG = System.getLogger(JettyHandler.class.getName());

  /// The path to which an authorization server redirects browsers. They send neither a token nor a
  /// `SameSite=Strict` cookie then.
  static final String CALLBACK = "/oauth/callback";

  /// A Socket.IO client may send its token later, in its connect packet.
  private static final String SOCKET_IO = "/socket.io/";

  /// The page on which an invited person chooses a name. Its links are in mails.
  static final String INVITATION = "/invite";

  /// The path to which an OpenID provider redirects the browsers of people who sign in.
  static final String SIGN_IN_CALLBACK = "/api/sign-in/callback";

  /// The query parameter with a credential for this path only.
  private static final String TICKET = "ticket";

  /// Paths that need no token.
  private static final Set<String> PUBLIC_PATHS =
      Set.of(
          "/",
          "/healthz",
          "/readyz",
          "/health",
          "/api/login",
          "/api/logout",
          "/api/sign-in",
          "/api/sign-in/start",
          SIGN_IN_CALLBACK,
          "/api/sign-out",
          "/api/invitations/accept",
          INVITATION,
          CALLBACK,
          SOCKET_IO);

  /// Paths that anyone may request as often as he likes: probes, and Socket.IO, which has limits of
  /// its own for those who have not logged in.
  private static final Set<String> NOT_LIMITED =
      Set.of("/healthz", "/readyz", "/health", SOCKET_IO);

  /// The files of the page, which contain no data.
  private static final String ASSETS = "/assets/";

  /// The attribute of a connection that another server forwards.
  private static final String FORWARDED = JettyHandler.class.getName() + ".forwarded";

  /// The dependencies of the handler, besides its routes. `forwardedClient` verifies the clients
  /// that other servers of the cluster forward; null if there are none.
  record JettyHandlerDependencies(
      HostCheck hosts,
      ApiTokens tokens,
      AccessPolicy accessPolicy,
      CallerConnections callers,
      Metrics metrics,
      HttpLimits limits,
      EdgeSettings edge,
      AddressLimits addresses,
      RequestAudit audit,
      DisconnectDetector disconnects,
      List<ErrorFormat> forms,
      @Nullable ForwardedClient forwardedClient,
      WebSocketUpgrader upgrades,
      Time time,
      Supplier<UUID> ids) {}

  /// The attribute of a request that contains its actor.
  private static final String ACTOR = JettyHandler.class.getName() + ".actor";

  /// How the path of an agent's public card ends.
  private static final List<String> AGENT_CARDS =
      List.of("/.well-known/agent-card.json", "/.well-known/agent.json");

  private final Router router;
  private final JettyHandlerDependencies dependencies;

  JettyHandler(Router router, JettyHandlerDependencies dependencies) {
    this.router = router;
    this.dependencies = dependencies;
  }

  @Override
  public boolean handle(
      org.eclipse.jetty.server.Request jetty, Response response, Callback callback) {
    var form = ErrorFormat.of(dependencies.forms(), jetty.getHttpURI().getPath());
    var writer =
        new ReplyWriter(response, callback, form, dependencies.disconnects(), dependencies.time());
    Reply reply;
    try {
      reply = reply(jetty, writer, new JettyConnection(response, dependencies.disconnects()));
      if (reply instanceof Reply.Upgrade upgrade) {
        // Socket.IO limits those who have not logged in yet itself.
        release(jetty);
        var actor = (Actor) jetty.getAttribute(ACTOR);
        dependencies.upgrades().upgrade(upgrade.handler(), actor, jetty, response, callback);
      } else {
        writer.write(reply, jetty.getMethod().equals("HEAD"));
      }
      count(reply);
    } catch (IOException | UncheckedIOException gone) {
      callback.failed(quiet(gone));
    } catch (Exception thrown) { // This is the root of a thread: one for each request.
      writeError(errorReply(jetty, thrown), response, writer, callback);
    }
    return true;
  }

  /// The reply for an exception. A bug is logged with an id, and the reply has only that id.
  private Reply errorReply(org.eclipse.jetty.server.Request jetty, Exception thrown) {
    return switch (thrown) {
      case Rejection rejection -> ReplyWriter.reply(rejection);
      case HttpProblemException httpProblemException -> httpProblemException.reply();
      default -> {
        var id = dependencies.ids().get();
        LOG.log(
            Level.ERROR,
            "request " + id + " failed: " + jetty.getMethod() + " " + jetty.getHttpURI().getPath(),
            thrown);
        var problem = Problem.of(500, "internal", "the server failed to answer; see its log");
        yield new Reply.Rejected(problem.withInstance("urn:uuid:" + id));
      }
    };
  }

  private void writeError(Reply refusal, Response response, ReplyWriter writer, Callback callback) {
    count(refusal);
    if (response.isCommitted()) {
      callback.failed(quiet(new IOException("the reply was already started")));
      return;
    }
    response.getHeaders().remove(HttpHeader.CONTENT_LENGTH);
    try {
      writer.write(refusal, false);
    } catch (IOException gone) {
      callback.failed(quiet(gone));
    }
  }

  /// A failure that Jetty does not log: a client that disconnects is not an error of the server.
  private static EofException quiet(Exception gone) {
    return new EofException(gone);
  }

  private Reply reply(
      org.eclipse.jetty.server.Request jetty, ReplyWriter writer, JettyConnection connection) {
    var uri = jetty.getHttpURI();
    if (uri.getPathQuery() != null && uri.getPathQuery().length() > HttpLimits.URI_CHARACTERS) {
      throw new HttpProblemException(Problem.of(414, "uri-too-long", "the URI is too long"));
    }
    var path = Optional.ofNullable(uri.getPath()).orElse("/");
    var forwarded = client(jetty);
    var client = forwarded.connection();
    var source = source(jetty, forwarded);
    var origin = dependencies.hosts().check(requestOrigin(jetty, path, client));
    writer.allow(origin);
    writer.requireTls(dependencies.edge(), source);
    var segments = Router.split(path).stream().map(JettyHandler::decode).toList();
    if (jetty.getMethod().equals("OPTIONS")) {
      return options(segments, origin);
    }
    var generation = dependencies.tokens().revocations().generation();
    var caller = caller(jetty, path, source);
    var match = router.find(jetty.getMethod(), segments);
    if (endsWithCredential(match.route().action())) {
      dependencies.callers().put(endPoint(jetty), caller);
      if (dependencies.tokens().revocations().generation() != generation) {
        // A credential that was revoked in the meantime has not ended this connection.
        caller = caller(jetty, path, source);
      }
    } else {
      dependencies.callers().remove(endPoint(jetty));
    }
    var query = query(uri.getQuery(), match.route().queryNames());
    var requestBody =
        new RequestBody(
            Content.Source.asInputStream(jetty),
            jetty.getLength(),
            dependencies.limits(),
            dependencies.time());
    var request =
        new Request(
            new Request.RequestData(
                jetty.getMethod(),
                path,
                caller,
                match.route().action(),
                match.variables(),
                query,
                client,
                source),
            name -> jetty.getHeaders().get(name),
            requestBody,
            connection);
    return handle(jetty, request, match.route());
  }

  /// Handles a request, and records it in the audit trail before the reply is written.
  private Reply handle(org.eclipse.jetty.server.Request jetty, Request request, Route route) {
    var audit = dependencies.audit();
    var actor = RequestAudit.actor(request);
    jetty.setAttribute(ACTOR, actor);
    try {
      if (!isPublic(request.path())) {
        checkAction(request.caller(), route.action());
      }
      audit.checkWritable(route);
      var reply =
          ScopedValue.where(CurrentCaller.ACTOR, actor).call(() -> route.handler().handle(request));
      audit.completed(request, route, reply.status());
      return reply;
    } catch (Rejection rejection) {
      audit.rejected(request, route, rejection);
      throw rejection;
    }
  }

  /// True if a request ends when the caller's credential ends. A request that ends credentials, which
  /// can be its own, gets its reply.
  private static boolean endsWithCredential(Action action) {
    return switch (action) {
      case READ, WRITE, ANSWER, OWN -> true;
      case NONE, ADMINISTER, OPERATE -> false;
    };
  }

  /// Rejects an action that the caller's credential does not permit at all. The operation checks the
  /// resource that it is about.
  private void checkAction(Caller caller, Action action) {
    if (dependencies.accessPolicy().decide(caller, action, new Resource.OfServer())
        instanceof AccessPolicy.Decision.Denied(var code, var reason)) {
      throw new Rejection.Forbidden(code, reason);
    }
  }

  /// The caller. Requests without a login are limited.
  private Caller caller(org.eclipse.jetty.server.Request jetty, String path, RequestSource source) {
    Caller caller;
    try {
      caller = authenticate(jetty, path, source);
    } catch (Rejection.Unauthorized unknown) {
      dependencies.addresses().countAnonymous(source);
      if (token(jetty) != null) {
        dependencies.audit().signInFailed(source, unknown);
      }
      throw unknown;
    } catch (Rejection.Busy tooMany) {
      dependencies.audit().signInFailed(source, tooMany);
      throw tooMany;
    }
    if (caller.kind() != CallerKind.ANONYMOUS) {
      release(jetty);
    } else if (!NOT_LIMITED.contains(path)) {
      dependencies.addresses().countAnonymous(source);
    }
    return caller;
  }

  private Caller authenticate(
      org.eclipse.jetty.server.Request jetty, String path, RequestSource source) {
    var tokens = dependencies.tokens();
    var token = token(jetty);
    if (isPublic(path)) {
      return tokens.callerOnPublicPath(token, source.address());
    }
    var ticket = ticket(jetty);
    return ticket.isPresent()
        ? tokens.callerOfTicket(ticket.get(), path, source.address())
        : tokens.caller(token, source.address());
  }

  /// The ticket in the query of a request that reads.
  private static Optional<String> ticket(org.eclipse.jetty.server.Request jetty) {
    var query = jetty.getHttpURI().getQuery();
    var reads = jetty.getMethod().equals("GET") || jetty.getMethod().equals("HEAD");
    if (query == null || !reads || !query.contains(TICKET + "=")) {
      return Optional.empty();
    }
    return Arrays.stream(query.split("&", -1))
        .filter(pair -> pair.startsWith(TICKET + "="))
        .map(pair -> pair.substring(TICKET.length() + 1))
        .findFirst();
  }

  private static EndPoint endPoint(org.eclipse.jetty.server.Request jetty) {
    return jetty.getConnectionMetaData().getConnection().getEndPoint();
  }

  /// The connection of the request does not count for the limits of its address any more.
  private void release(org.eclipse.jetty.server.Request jetty) {
    dependencies.addresses().release(endPoint(jetty));
  }

  private static boolean isPublic(String path) {
    return PUBLIC_PATHS.contains(path)
        || path.startsWith(ASSETS)
        || AGENT_CARDS.stream().anyMatch(path::endsWith);
  }

  private Reply options(List<String> segments, Optional<String> origin) {
    var allowed = router.allowed(segments);
    var headers = new HashMap<>(Map.of("Allow", allowed));
    if (origin.isPresent()) {
      headers.put("Access-Control-Allow-Methods", allowed);
      headers.put(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, A2A-Version,"
              + " A2A-Extensions, X-A2A-Extensions");
      headers.put("Access-Control-Max-Age", "600");
    }
    return new Reply.Empty(204, headers);
  }

  private static HostCheck.RequestOrigin requestOrigin(
      org.eclipse.jetty.server.Request jetty,
      String path,
      ClientProcessCheck.TcpConnection client) {
    var headers = jetty.getHeaders();
    var local = client.local().getAddress().getHostAddress();
    return new HostCheck.RequestOrigin(
        jetty.getMethod(),
        path,
        Optional.ofNullable(headers.get(HttpHeader.HOST)),
        local.contains(":") ? "[" + local + "]" : local,
        Optional.ofNullable(headers.get(HttpHeader.ORIGIN)),
        Optional.ofNullable(headers.get("Sec-Fetch-Site")),
        Optional.ofNullable(headers.get("Sec-Fetch-Mode")));
  }

  /// The connection of the client: to this server, or to the server that forwards it. Only the first
  /// request of a forwarded connection says so.
  private ForwardedConnection client(org.eclipse.jetty.server.Request jetty) {
    var connection = jetty.getConnectionMetaData();
    if (connection.getAttribute(FORWARDED) instanceof ForwardedConnection forwarded) {
      return forwarded;
    }
    var header = jetty.getHeaders().get(ForwardedClient.HEADER);
    if (header == null || dependencies.forwardedClient() == null) {
      return new ForwardedConnection(connection(jetty), jetty.isSecure());
    }
    var forwarded =
        dependencies
            .forwardedClient()
            .verify(header)
            .orElseThrow(
                () ->
                    new Rejection.Invalid(
                        "invalid-forwarding", "only servers of the cluster may forward requests"));
    connection.setAttribute(FORWARDED, forwarded);
    return forwarded;
  }

  private RequestSource source(
      org.eclipse.jetty.server.Request jetty, ForwardedConnection forwarded) {
    return dependencies
        .edge()
        .proxies()
        .source(
            forwarded.connection().remote().getAddress(),
            forwarded.encrypted(),
            name -> jetty.getHeaders().getValuesList(name));
  }

  /// The connection as this server sees it.
  static ClientProcessCheck.TcpConnection connection(org.eclipse.jetty.server.Request jetty) {
    var connection = jetty.getConnectionMetaData();
    if (connection.getRemoteSocketAddress() instanceof InetSocketAddress remote
        && connection.getLocalSocketAddress() instanceof InetSocketAddress local) {
      return new ClientProcessCheck.TcpConnection(remote, local);
    }
    throw new IllegalStateException("a connection that is not TCP: " + connection);
  }

  private static @Nullable String token(org.eclipse.jetty.server.Request jetty) {
    var headers = jetty.getHeaders();
    return ApiTokens.fromHeaders(
        headers.get(HttpHeader.AUTHORIZATION), headers.get(HttpHeader.COOKIE));
  }

  private static Map<String, String> query(@Nullable String query, Set<String> known) {
    var values = new HashMap<String, String>();
    if (query == null || query.isEmpty()) {
      return values;
    }
    for (var pair : query.split("&", -1)) {
      var equals = pair.indexOf('=');
      var name = decode(equals < 0 ? pair : pair.substring(0, equals));
      var value = equals < 0 ? "" : decode(pair.substring(equals + 1).replace('+', ' '));
      if (!known.contains(name)) {
        if (name.equals(TICKET) || known.contains(Parameter.ANY_OTHER.name())) {
          continue;
        }
        throw new Rejection.Invalid("unknown-parameter", "there is no parameter " + name);
      }
      if (values.put(name, value) != null) {
        throw new Rejection.Invalid("repeated-parameter", name + " is given twice");
      }
    }
    return values;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      throw new Rejection.Invalid("invalid-uri", "the URI is not well formed");
    }
  }

  private void count(Reply reply) {
    dependencies.metrics().counter(Metric.REQUESTS, Integer.toString(reply.status())).increment();
  }
}
