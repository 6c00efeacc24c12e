package dev.parley.door.agents;

import dev.parley.door.Access;
import dev.parley.door.ErrorForm;
import dev.parley.door.Problem;
import dev.parley.door.Removal;
import dev.parley.door.Route;
import dev.parley.door.Tail;
import dev.parley.door.Voice;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.socket.Visit;
import dev.parley.task.Tasks;
import dev.parley.view.Views;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The agents door: its routes, and what it makes of those who come by socket.
public final class AgentsDoor {

  /// What the door passes requests on to. `claude-code`, if it is among the types, or else `standard`
  /// takes what names no agent.
  public record Parts(
      EventLog log,
      Views views,
      Tasks tasks,
      Access access,
      Removal removal,
      Tail.Parts tails,
      InstantSource clock,
      Supplier<UUID> ids,
      List<Type> types,
      AgentTypeId standard) {
    public Parts {
      types = List.copyOf(types);
    }
  }

  /// An agent that can be launched; `kind` is what does its work: `llm`, `cli`, `supervisor`, ..., and
  /// `honours` is which of a configuration's keys that not all agents know it does.
  public record Type(
      AgentTypeId id, String name, @Nullable String description, String kind, Set<String> honours) {
    public Type {
      honours = Set.copyOf(honours);
    }
  }

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(
          Map.entry("contextId", "sessionId"),
          Map.entry("context", "session"),
          Map.entry("taskId", "agentId"),
          Map.entry("a task", "an agent"),
          Map.entry("task", "agent"),
          Map.entry("tasks", "agents"));

  /// What went wrong, in two dialects at once: as a problem, and with what clients of this door look for.
  public static final List<ErrorForm> ERRORS =
      Stream.of("/api/agents", "/api/providers", "/agent")
          .map(path -> new ErrorForm(path, "application/problem+json", AgentsDoor::body))
          .toList();

  private final Parts parts;
  private final AgentLookup agents;
  private final MessageForm form;

  public AgentsDoor(Parts parts) {
    this.parts = parts;
    this.agents = new AgentLookup(parts.views(), parts.access());
    this.form = new MessageForm(new Voice(parts.log(), parts.views()));
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
    var launcher = new Launcher(parts, agents);
    var agentRoutes = new AgentRoutes(parts, agents, launcher);
    var routes = new ArrayList<Route>();
    routes.addAll(agentRoutes.routes());
    routes.addAll(new MessageRoutes(parts, agents, form).routes());
    routes.addAll(new ProxyRoutes(parts, agents, launcher, agentRoutes).routes());
    return routes;
  }

  /// What becomes of those who come by socket.
  public Visit.Host visits() {
    return new AgentVisits(parts, agents, new MessageTexts(form));
  }
}
