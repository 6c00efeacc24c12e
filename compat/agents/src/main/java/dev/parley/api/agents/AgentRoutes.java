package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.projection.RootTaskQueries.RootTaskScope;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
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

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final AgentLauncher launcher;

  AgentRoutes(ApiDependencies parts, AgentLookup agents, AgentLauncher launcher) {
    this.parts = parts;
    this.agents = agents;
    this.launcher = launcher;
  }

  /// An agent that was launched; `id` is `agentId`.
  record LaunchedAgent(
      TaskId agentId, AgentStatus status, Instant createdAt, TaskId id, ContextId sessionId) {
    static LaunchedAgent of(RootTaskView agent) {
      var task = agent.task();
      return new LaunchedAgent(
          task.taskId(),
          AgentStatus.of(task.status()),
          task.createdAt(),
          task.taskId(),
          task.contextId());
    }
  }

  /// The status of an agent.
  record AgentStatusReply(TaskId agentId, AgentStatus status) {}

  /// The queued agents, next one first.
  record AgentQueue(long queueLength, List<QueuedAgent> requests) {}

  /// A queued agent; `requestId` is its id.
  record QueuedAgent(TaskId requestId, TaskId agentId, AgentTypeId type, Instant createdAt) {}

  /// The agent types that can be launched.
  record AgentProviders(int totalCount, List<AgentProvider> providers) {}

  /// An agent type.
  record AgentProvider(
      AgentTypeId type, String name, @Nullable String description, String kind, boolean isActive) {}

  /// The state of the server. `activeAgents` is null while the views are unavailable.
  record ApiHealth(String status, Instant timestamp, @Nullable Long activeAgents) {}

  List<Route> routes() {
    var paging = List.of(Parameter.LIMIT, Parameter.CURSOR);
    return List.of(
        Route.withBody(
            Route.Method.POST,
            ALL,
            new Route.RouteDescription(
                "Launches an agent",
                List.of(Parameter.header("Idempotency-Key", "makes it safe to repeat the request")),
                LaunchRequest.class,
                ResponseDescription.one(201, LaunchedAgent.class)),
            this::launch),
        list(ALL, "Lists agents, newest first", RootTaskScope.ALL, paging),
        list(ALL + "/active", "Lists agents that have not ended", RootTaskScope.OPEN, paging),
        Route.get(
            ALL + "/queue",
            "Lists queued agents",
            ResponseDescription.one(AgentQueue.class),
            this::queue),
        Route.withoutBody(
            Route.Method.DELETE,
            ALL + "/queue/{id}",
            "Removes an agent from the queue",
            ResponseDescription.empty(),
            this::removeFromQueue),
        Route.get(
            ONE,
            "Shows an agent",
            ResponseDescription.one(AgentInfo.class),
            request -> new Reply.Json(200, AgentInfo.of(agents.find(request)))),
        Route.get(
            ONE + "/status",
            "Returns the status of an agent",
            ResponseDescription.one(AgentStatusReply.class),
            this::status),
        act(ONE, "Stops an agent", this::stop),
        act(ONE + "/delete", "Deletes an agent and its session permanently", this::delete),
        Route.get(
            "/api/providers",
            "Lists the agent types that can be launched",
            ResponseDescription.one(AgentProviders.class),
            _ -> new Reply.Json(200, providers())),
        Route.get(
            "/api/health",
            "Reports that the server is up, and the number of active agents",
            ResponseDescription.one(ApiHealth.class),
            request -> new Reply.Json(200, health(request))));
  }

  private Route list(
      String path, String summary, RootTaskScope rootTaskScope, List<Parameter> parameters) {
    return Route.get(
        path,
        summary,
        ResponseDescription.other("application/json"),
        parameters,
        r -> list(r, rootTaskScope));
  }

  private static Route act(
      String path, String summary, dev.parley.http.Route.RouteHandler routeHandler) {
    var routeDescription =
        new Route.RouteDescription(summary, List.of(FORCE), null, ResponseDescription.empty());
    return new Route(Route.Method.DELETE, path, routeDescription, routeHandler);
  }

  private Reply launch(Request request) {
    var wanted = request.body(LaunchRequest.class);
    LaunchRequest.LaunchConfiguration.checkKeys(
        request.body(ObjectNode.class).path("configuration"));
    var agent = launcher.launch(request, wanted, false);
    return new Reply.Json(
        201,
        LaunchedAgent.of(agent),
        java.util.Map.of("Location", ALL + "/" + agent.task().taskId()));
  }

  private Reply list(Request request, RootTaskScope rootTaskScope) {
    var resultPage =
        parts
            .views()
            .rootTasks()
            .page(
                parts.access().visible(request.caller()),
                rootTaskScope,
                request.query("cursor").orElse(null),
                request.limit());
    var headers = new HashMap<String, String>();
    if (resultPage.nextCursor() != null) {
      headers.put("X-Next-Cursor", resultPage.nextCursor());
      headers.put(
          "Link",
          "<"
              + request.path()
              + "?limit="
              + request.limit()
              + "&cursor="
              + resultPage.nextCursor()
              + ">; rel=\"next\"");
    }
    return new Reply.Json(200, resultPage.items().stream().map(AgentInfo::of).toList(), headers);
  }

  private Reply queue(Request request) {
    var visible = parts.access().visible(request.caller());
    var resultPage =
        parts
            .views()
            .rootTasks()
            .page(visible, RootTaskScope.WAITING, null, dev.parley.http.HttpLimits.PAGE_MAX);
    var waiting =
        resultPage.items().reversed().stream()
            .map(RootTaskView::task)
            .map(t -> new QueuedAgent(t.taskId(), t.taskId(), t.agentId(), t.createdAt()))
            .toList();
    return new Reply.Json(
        200,
        new AgentQueue(parts.views().rootTasks().count(visible, RootTaskScope.WAITING), waiting));
  }

  private Reply removeFromQueue(Request request) {
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
    return new Reply.Json(200, new AgentStatusReply(task.taskId(), AgentStatus.of(task.status())));
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
  void cancel(Request request, RootTaskView agent) {
    var context = agent.task().contextId();
    var task = agent.task().taskId();
    parts.tasks().cancel(context, task, request.principal(), null);
    var deadline = parts.time().instant().plus(STOP_PATIENCE);
    try {
      for (var head = parts.log().head(context);
          parts.log().inspect(context, state -> state.openTask(task).isPresent());
          head = parts.log().head(context)) {
        var left = Duration.between(parts.time().instant(), deadline);
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
      if (parts.views().rootTasks().inContext(context).size() > 1) {
        throw new Rejection.Conflict(
            "session-shared",
            "the agent's session has other agents; force=true deletes all of them");
      }
    }
    parts.deletion().delete(context, request.principal());
    return new Reply.Empty(204);
  }

  private AgentProviders providers() {
    var providers =
        parts.agentTypes().stream()
            .map(
                t ->
                    new AgentProvider(
                        t.id(),
                        t.name(),
                        t.description(),
                        t.type(),
                        parts.launchOptions().apply(t.id()).installed()))
            .toList();
    return new AgentProviders(providers.size(), providers);
  }

  private ApiHealth health(Request request) {
    return new ApiHealth("ok", parts.time().instant(), agents.countOpen(request.caller()));
  }
}
