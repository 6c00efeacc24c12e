package dev.parley.door.agents;

import dev.parley.door.AgentType;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.RootView;
import dev.parley.view.Roots.Which;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for agents: launch, list, show, stop and delete them, and list the queue.
final class AgentRoutes {

  /// How long a request to stop an agent waits for its end. A program that ignores it is killed by
  /// then.
  static final Duration STOP_PATIENCE = Duration.ofSeconds(2);

  private static final String ALL = "/api/agents";
  private static final String ONE = ALL + "/{id}";
  private static final Parameter FORCE =
      Parameter.query("force", Parameter.Type.BOOLEAN, "skip the safety checks");

  private final DoorParts parts;
  private final AgentLookup agents;
  private final Launcher launcher;
  private final Predicate<AgentType> isThere;

  AgentRoutes(
      DoorParts parts, AgentLookup agents, Launcher launcher, Predicate<AgentType> isThere) {
    this.isThere = isThere;
    this.parts = parts;
    this.agents = agents;
    this.launcher = launcher;
  }

  /// An agent that was launched; `id` is `agentId`.
  record Launched(
      TaskId agentId, AgentStatus status, Instant createdAt, TaskId id, ContextId sessionId) {
    static Launched of(RootView agent) {
      var task = agent.task();
      return new Launched(
          task.taskId(),
          AgentStatus.of(task.status()),
          task.createdAt(),
          task.taskId(),
          task.contextId());
    }
  }

  /// The status of an agent.
  record StatusOf(TaskId agentId, AgentStatus status) {}

  /// The queued agents, next one first.
  record Queue(long queueLength, List<Waiting> requests) {}

  /// A queued agent; `requestId` is its id.
  record Waiting(TaskId requestId, TaskId agentId, AgentTypeId type, Instant createdAt) {}

  /// The agent types that can be launched.
  record Providers(int totalCount, List<Provider> providers) {}

  /// An agent type.
  record Provider(
      AgentTypeId type, String name, @Nullable String description, String kind, boolean isActive) {}

  /// The state of the server. `activeAgents` is null while the views are unavailable.
  record ApiHealth(String status, Instant timestamp, @Nullable Long activeAgents) {}

  List<Route> routes() {
    var paging = List.of(Paging.LIMIT, Paging.CURSOR);
    return List.of(
        Route.send(
            Route.Method.POST,
            ALL,
            new Route.Description(
                "Launches an agent",
                List.of(Parameter.header("Idempotency-Key", "makes it safe to repeat the request")),
                Launch.class,
                Answer.one(201, Launched.class)),
            this::launch),
        list(ALL, "Lists agents, newest first", Which.ALL, paging),
        list(ALL + "/active", "Lists agents that have not ended", Which.OPEN, paging),
        Route.get(ALL + "/queue", "Lists queued agents", Answer.one(Queue.class), this::queue),
        Route.act(
            Route.Method.DELETE,
            ALL + "/queue/{id}",
            "Removes an agent from the queue",
            Answer.empty(),
            this::unqueue),
        Route.get(
            ONE,
            "Shows an agent",
            Answer.one(AgentInfo.class),
            request -> new Reply.Json(200, AgentInfo.of(agents.find(request)))),
        Route.get(
            ONE + "/status",
            "Returns the status of an agent",
            Answer.one(StatusOf.class),
            this::status),
        act(ONE, "Stops an agent", this::stop),
        act(ONE + "/delete", "Deletes an agent and its session permanently", this::delete),
        Route.get(
            "/api/providers",
            "Lists the agent types that can be launched",
            Answer.one(Providers.class),
            _ -> new Reply.Json(200, providers())),
        Route.get(
            "/api/health",
            "Reports that the server is up, and the number of active agents",
            Answer.one(ApiHealth.class),
            request -> new Reply.Json(200, health(request))));
  }

  private Route list(String path, String summary, Which which, List<Parameter> parameters) {
    return Route.get(
        path, summary, Answer.other("application/json"), parameters, r -> list(r, which));
  }

  private static Route act(String path, String summary, dev.parley.door.Handler handler) {
    var description = new Route.Description(summary, List.of(FORCE), null, Answer.empty());
    return new Route(Route.Method.DELETE, path, description, handler);
  }

  private Reply launch(Request request) {
    var wanted = request.body(Launch.class);
    Launch.Configuration.checkKeys(request.body(ObjectNode.class).path("configuration"));
    var agent = launcher.launch(request, wanted, false);
    return new Reply.Json(
        201, Launched.of(agent), java.util.Map.of("Location", ALL + "/" + agent.task().taskId()));
  }

  private Reply list(Request request, Which which) {
    var page =
        parts
            .views()
            .roots()
            .page(
                parts.access().owners(request.principal()),
                which,
                request.query("cursor").orElse(null),
                request.limit());
    var headers = new HashMap<String, String>();
    if (page.nextCursor() != null) {
      headers.put("X-Next-Cursor", page.nextCursor());
      headers.put(
          "Link",
          "<"
              + request.path()
              + "?limit="
              + request.limit()
              + "&cursor="
              + page.nextCursor()
              + ">; rel=\"next\"");
    }
    return new Reply.Json(200, page.items().stream().map(AgentInfo::of).toList(), headers);
  }

  private Reply queue(Request request) {
    var owners = parts.access().owners(request.principal());
    var page =
        parts.views().roots().page(owners, Which.WAITING, null, dev.parley.door.Limits.PAGE_MAX);
    var waiting =
        page.items().reversed().stream()
            .map(RootView::task)
            .map(t -> new Waiting(t.taskId(), t.taskId(), t.agentId(), t.createdAt()))
            .toList();
    return new Reply.Json(
        200, new Queue(parts.views().roots().count(owners, Which.WAITING), waiting));
  }

  private Reply unqueue(Request request) {
    var task = agents.find(request).task();
    if (AgentStatus.of(task.status()) != AgentStatus.INITIALIZING) {
      throw new Rejection.Conflict(
          "agent-started",
          "the agent has started already; DELETE " + ALL + "/" + task.taskId() + " stops it");
    }
    cancel(request, agents.find(request));
    return new Reply.Empty(204);
  }

  private Reply status(Request request) {
    var task = agents.find(request).task();
    return new Reply.Json(200, new StatusOf(task.taskId(), AgentStatus.of(task.status())));
  }

  private Reply stop(Request request) {
    var agent = agents.find(request);
    var status = AgentStatus.of(agent.task().status());
    if (status.ended()) {
      if (!request.flag("force")) {
        throw new Rejection.Conflict("agent-ended", "the agent has ended: it is " + status.wire());
      }
      return new Reply.Empty(204);
    }
    cancel(request, agent);
    return new Reply.Empty(204);
  }

  /// Requests cancellation of the agent, and waits for its end for a limited time.
  void cancel(Request request, RootView agent) {
    var context = agent.task().contextId();
    var task = agent.task().taskId();
    parts.tasks().cancel(context, task, request.principal(), null);
    var deadline = parts.clock().instant().plus(STOP_PATIENCE);
    try {
      for (var head = parts.log().head(context);
          parts.log().inspect(context, state -> state.openTask(task).isPresent());
          head = parts.log().head(context)) {
        var left = Duration.between(parts.clock().instant(), deadline);
        if (!left.isPositive() || !parts.log().await(context, head, left)) {
          return;
        }
      }
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the server is stopping");
    }
  }

  private Reply delete(Request request) {
    var agent = agents.find(request);
    var context = agent.task().contextId();
    if (!request.flag("force")) {
      if (!AgentStatus.of(agent.task().status()).ended()) {
        throw new Rejection.Conflict(
            "agent-running", "the agent has not ended; force=true stops and deletes it");
      }
      if (parts.views().roots().of(context).size() > 1) {
        throw new Rejection.Conflict(
            "session-shared",
            "the agent's session has other agents; force=true deletes all of them");
      }
    }
    parts.removal().remove(context, request.principal());
    return new Reply.Empty(204);
  }

  private Providers providers() {
    var providers =
        parts.agentTypes().stream()
            .map(t -> new Provider(t.id(), t.name(), t.description(), t.type(), isThere.test(t)))
            .toList();
    return new Providers(providers.size(), providers);
  }

  private ApiHealth health(Request request) {
    return new ApiHealth("ok", parts.clock().instant(), agents.countOpen(request.principal()));
  }
}
