package dev.parley.api.controls;

import dev.parley.api.ApiDependencies;
import dev.parley.control.Pauses;
import dev.parley.control.Pauses.PauseRequest;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.PauseView.PauseScope;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.WireName;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Routes with which operators pause and resume agents, people, tenants or everything.
final class PauseRoutes {

  private static final System.Logger LOG = System.getLogger(PauseRoutes.class.getName());

  private final ApiDependencies parts;
  private final Pauses pauses;

  PauseRoutes(ApiDependencies parts, Pauses pauses) {
    this.parts = parts;
    this.pauses = pauses;
  }

  /// What to pause: `all`, or an agent, a person or a tenant named `target`.
  record NewPause(@Nullable String scope, @Nullable String target, @Nullable String reason) {}

  /// The state of the server: `ready`, or `paused` if everything is paused.
  record ServerStatus(String status, int tasksRunning, int tasksQueued, List<PauseView> pauses) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            "/api/status",
            "Returns how many tasks run and wait, and what is paused",
            ResponseDescription.one(ServerStatus.class),
            this::status),
        Route.get(
            "/api/pauses",
            "Lists what is paused, oldest first",
            ResponseDescription.page(PauseView.class),
            request -> new Reply.Json(200, new ResultPage<>(visible(request), null))),
        Route.withBody(
                Route.Method.POST,
                "/api/pauses",
                new Route.RouteDescription(
                    "Pauses an agent, a person, a tenant or everything",
                    List.of(),
                    NewPause.class,
                    ResponseDescription.one(PauseView.class)),
                this::pause)
            .doing(Action.OPERATE),
        Route.withoutBody(
                Route.Method.DELETE,
                "/api/pauses/{id}",
                "Ends a pause: its tasks continue",
                ResponseDescription.one(PauseView.class),
                this::resume)
            .doing(Action.OPERATE));
  }

  /// The pauses that an operator may see, or those that apply to the caller.
  private List<PauseView> visible(Request request) {
    var caller = request.caller();
    return parts.tasks().pauses().stream()
        .filter(
            pause ->
                caller.operator()
                    || switch (pause.scope()) {
                      case ALL, AGENT -> true;
                      case PERSON -> caller.principal().equals(pause.target());
                      case TENANT -> caller.tenant().equals(pause.target());
                    })
        .map(pause -> caller.operator() ? pause : pause.withWaitingTasks(0))
        .toList();
  }

  private Reply status(Request request) {
    var all = visible(request);
    var paused = all.stream().anyMatch(pause -> pause.scope() == PauseScope.ALL);
    return new Reply.Json(
        200,
        new ServerStatus(
            paused ? "paused" : "ready", parts.tasks().running(), parts.tasks().queued(), all));
  }

  private Reply pause(Request request) {
    var body = request.body(NewPause.class);
    if (body.scope() == null) {
      throw new Rejection.Invalid("scope is required: all, tenant, person or agent");
    }
    var scope = WireName.parse(PauseScope.class, "scope", body.scope());
    if (scope == PauseScope.AGENT
        && parts.agentTypes().stream().noneMatch(type -> type.id().value().equals(body.target()))) {
      throw new Rejection.NotFound(
          "there is no agent "
              + body.target()
              + "; the agents are: "
              + parts.agentTypes().stream()
                  .map(type -> type.id().value())
                  .collect(Collectors.joining(", ")));
    }
    var pause =
        pauses.set(
            new PauseRequest(scope, body.target(), body.reason()),
            request.principal(),
            parts.time().instant());
    LOG.log(Level.INFO, "{0} was paused by {1}", pause.id(), pause.pausedBy());
    return new Reply.Json(200, counted(pause));
  }

  private PauseView counted(PauseView pause) {
    return parts.tasks().pauses().stream()
        .filter(other -> other.id().equals(pause.id()))
        .findFirst()
        .orElse(pause);
  }

  private Reply resume(Request request) {
    var ended = pauses.end(request.path("id"));
    LOG.log(Level.INFO, "{0} was resumed by {1}", ended.id(), request.principal());
    return new Reply.Json(200, ended);
  }
}
