package dev.parley.door.agents;

import dev.parley.door.AgentType;
import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Problem;
import dev.parley.door.Route;
import dev.parley.door.Voice;
import dev.parley.socket.Visit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// The agents API: its routes, and its socket sessions.
public final class AgentsDoor {

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
  public static final List<ErrorForm> ERRORS =
      Stream.of("/api/agents", "/api/providers", "/agent")
          .map(path -> new ErrorForm(path, "application/problem+json", AgentsDoor::body))
          .toList();

  private final DoorParts parts;
  private final Function<AgentType, Set<String>> honours;
  private final Predicate<AgentType> isThere;
  private final AgentLookup agents;
  private final MessageForm form;
  private final Passages passages;

  /// @param honours returns the agent-specific configuration keys that an agent type supports
  /// @param isThere whether the program that an agent type needs is installed
  public AgentsDoor(
      DoorParts parts, Function<AgentType, Set<String>> honours, Predicate<AgentType> isThere) {
    this.parts = parts;
    this.honours = honours;
    this.isThere = isThere;
    this.agents = new AgentLookup(parts.views(), parts.access());
    this.form = new MessageForm(new Voice(parts.log(), parts.views()));
    this.passages = new Passages(parts.log(), form);
    parts.removal().also(passages::forget);
  }

  private static ObjectNode body(Problem said) {
    var problem = said.inWords(WORDS);
    return problem
        .json()
        .put("statusCode", problem.status())
        .put("message", problem.detail())
        .put("error", problem.title());
  }

  /// The routes.
  public List<Route> routes() {
    var launcher = new Launcher(parts, agents, honours);
    var agentRoutes = new AgentRoutes(parts, agents, launcher, isThere);
    var routes = new ArrayList<Route>();
    routes.addAll(agentRoutes.routes());
    routes.addAll(new MessageRoutes(parts, agents, form).routes());
    routes.addAll(new ProxyRoutes(parts, agents, launcher, agentRoutes).routes());
    return routes;
  }

  /// Creates a session for each socket client.
  public Visit.Host visits() {
    return new AgentVisits(parts, agents, passages);
  }
}
