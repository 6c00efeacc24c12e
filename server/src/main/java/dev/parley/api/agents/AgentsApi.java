package dev.parley.api.agents;

import dev.parley.http.AgentTypeView;
import dev.parley.http.AnswerSource;
import dev.parley.http.ApiDependencies;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.socketio.SocketSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// The agents API: its routes, and its socket sessions.
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
  public static final List<ErrorFormat> ERRORS =
      Stream.of("/api/agents", "/api/providers", "/agent")
          .map(path -> new ErrorFormat(path, "application/problem+json", AgentsApi::body))
          .toList();

  private final ApiDependencies parts;
  private final Function<AgentTypeView, Set<String>> supportedKeys;
  private final Predicate<AgentTypeView> available;
  private final AgentLookup agents;
  private final AgentMessageEncoder encoder;
  private final MessageBatchCache batches;

  /// @param supportedKeys returns the agent-specific configuration keys that an agent type supports
  /// @param available whether the program that an agent type needs is installed
  public AgentsApi(
      ApiDependencies parts,
      Function<AgentTypeView, Set<String>> supportedKeys,
      Predicate<AgentTypeView> available) {
    this.parts = parts;
    this.supportedKeys = supportedKeys;
    this.available = available;
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

  /// The routes.
  public List<Route> routes() {
    var agentLauncher = new AgentLauncher(parts, agents, supportedKeys);
    var agentRoutes = new AgentRoutes(parts, agents, agentLauncher, available);
    var routes = new ArrayList<Route>();
    routes.addAll(agentRoutes.routes());
    routes.addAll(new AgentMessageRoutes(parts, agents, encoder).routes());
    routes.addAll(new ProxyRoutes(parts, agents, agentLauncher, agentRoutes).routes());
    return routes;
  }

  /// Creates a session for each socket client.
  public SocketSession.SocketSessionFactory sessionFactory() {
    return new AgentSocketSessionFactory(parts, agents, batches);
  }
}
