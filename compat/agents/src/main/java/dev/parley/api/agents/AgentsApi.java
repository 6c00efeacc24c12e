package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule.ApiParts;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.projection.AnswerSource;
import dev.parley.socketio.SocketIoApi;
import dev.parley.socketio.SocketIoDependencies;
import dev.parley.socketio.SocketIoSettings;
import dev.parley.socketio.SocketSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// The agents API: its routes, and the sessions of its socket clients.
public final class AgentsApi {

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(
          Map.entry("contextId", "sessionId"),
          Map.entry("context", "session"),
          Map.entry("taskId", "agentId"),
          Map.entry("a task", "an agent"),
          Map.entry("task", "agent"),
          Map.entry("tasks", "agents"));

  /// The error format: a problem document with the additional fields that clients of this API
  /// expect.
  private static final List<ErrorFormat> ERRORS =
      Stream.of("/api/agents", "/api/providers", "/agent")
          .map(path -> new ErrorFormat(path, "application/problem+json", AgentsApi::body))
          .toList();

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final AgentMessageEncoder encoder;
  private final MessageBatchCache batches;

  public AgentsApi(ApiDependencies parts) {
    this.parts = parts;
    this.agents = new AgentLookup(parts.views(), parts.access());
    this.encoder = new AgentMessageEncoder(new AnswerSource(parts.log(), parts.views()));
    this.batches = new MessageBatchCache(parts.log(), encoder);
    parts.deletion().onDelete(batches::forget);
  }

  private static ObjectNode body(Problem said) {
    var problem = said.withTerms(WORDS);
    return problem
        .json()
        .put("statusCode", problem.status())
        .put("message", problem.detail())
        .put("error", problem.title());
  }

  /// The routes for requests and for sockets, and the format of errors.
  ApiParts parts() {
    var launcher = new AgentLauncher(parts, agents);
    var agentRoutes = new AgentRoutes(parts, agents, launcher);
    var routes = new ArrayList<Route>();
    routes.addAll(agentRoutes.routes());
    routes.addAll(new AgentMessageRoutes(parts, agents, encoder).routes());
    routes.addAll(new ProxyRoutes(parts, agents, launcher, agentRoutes).routes());
    var socketDependencies =
        new SocketIoDependencies(
            parts.tokens(),
            parts.streamDependencies().streams(),
            parts.http().limits(),
            parts.time(),
            parts.threads(),
            parts.ids(),
            SocketIoSettings.DEFAULTS);
    routes.addAll(new SocketIoApi(socketDependencies, sessionFactory()).routes("/api/agents/ws"));
    return new ApiParts(routes, ERRORS);
  }

  /// Creates a session for each socket client.
  public SocketSession.SocketSessionFactory sessionFactory() {
    var notifications = new AgentNotifications(parts.log(), parts.views().feed());
    return socketPeer -> {
      var session = new AgentSocketSession(parts, agents, batches, notifications, socketPeer);
      session.start();
      return session;
    };
  }
}
