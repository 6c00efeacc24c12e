package dev.parley.api.agui;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes beyond the AG-UI protocol: streaming a thread from any frame, canceling its run, and an
/// agent's capabilities.
final class AgUiThreadRoutes {

  private static final String THREAD = "/ag-ui/{agentTypeId}/threads/{c}";

  private final ApiDependencies parts;
  private final ThreadReader threadReader;
  private final AgUiCapabilities capabilities;

  AgUiThreadRoutes(ApiDependencies parts, ThreadReader threadReader) {
    this.parts = parts;
    this.threadReader = threadReader;
    this.capabilities = new AgUiCapabilities(parts);
  }

  /// The run to cancel; without a run id, the active or waiting run.
  record Cancel(@Nullable String runId, @Nullable String reason) {}

  /// A run that is being canceled.
  record Cancelled(ContextId threadId, TaskId taskId, String runId) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            "/ag-ui/{agentTypeId}",
            "Shows what an agent can do, as AgentCapabilities of AG-UI",
            ResponseDescription.other("application/json"),
            request -> new Reply.Json(200, capabilities.of(AgUiRunRoutes.agent(parts, request)))),
        Route.get(
            THREAD + "/events",
            "Streams a thread: snapshots and what follows, or what follows a frame",
            ResponseDescription.stream(),
            List.of(
                Parameter.query("after", "only events after this one, by the id of its frame"),
                Parameter.header("Last-Event-ID", "the same as after; takes precedence"),
                Parameter.query(
                    "follow",
                    Parameter.Type.BOOLEAN,
                    "keeps the stream open while no run is active"),
                Parameter.query(
                    "protocolVersion", "the version of AG-UI to write: 0.0, 1.0 (default), 1.1")),
            this::events),
        Route.withBody(
            Route.Method.POST,
            THREAD + "/cancel",
            new Route.RouteDescription(
                "Stops the run of a thread",
                List.of(),
                Cancel.class,
                ResponseDescription.one(202, Cancelled.class)),
            this::cancel));
  }

  private Reply events(Request request) {
    AgUiRunRoutes.agent(parts, request);
    var thread = parts.access().context(request);
    var cursor =
        request
            .header("Last-Event-ID")
            .or(() -> request.query("after"))
            .filter(text -> !text.isBlank());
    // Only this server has the route, so the absence of a version does not mean an old client.
    var version =
        AgUiVersion.of(request.query("protocolVersion").orElseGet(AgUiVersion.V1_0::wire));
    return threadReader.stream(
        thread,
        new ThreadReader.ThreadStreamRequest(cursor.orElse(null), request.flag("follow"), version));
  }

  private Reply cancel(Request request) {
    AgUiRunRoutes.agent(parts, request);
    var thread = parts.access().context(request);
    var wish = request.body(Cancel.class);
    var run = threadReader.open(thread).map(ThreadReader.OpenThreadRun::run).orElse(null);
    if (run != null && (wish.runId() == null || wish.runId().equals(run.runId))) {
      return cancel(request, thread, new Cancelled(thread, run.root, run.runId));
    }
    return threadReader.roots(thread).stream()
        .filter(root -> wish.runId() == null || wish.runId().equals(root.runId()))
        .findFirst()
        .map(root -> cancel(request, thread, new Cancelled(thread, root.task(), root.runId())))
        .orElseThrow(
            () ->
                new Rejection.Conflict(
                    "not-running", "no such run is active or waiting in the thread " + thread));
  }

  private Reply cancel(Request request, ContextId thread, Cancelled which) {
    var reason = request.body(Cancel.class).reason();
    parts.tasks().cancel(thread, which.taskId(), request.principal(), reason);
    return new Reply.Json(202, which);
  }

  /// Describes what an agent can do, as AG-UI capabilities.
  static final class AgUiCapabilities {

    private static final String AGENT_TOOL_PREFIX = "agent:";

    private final ApiDependencies parts;

    AgUiCapabilities(ApiDependencies parts) {
      this.parts = parts;
    }

    ObjectNode of(AgentTypeId id) {
      var agent =
          parts.agentTypes().stream()
              .filter(type -> type.id().equals(id))
              .findFirst()
              .orElseThrow();
      var json = Json.object();
      identity(json.putObject("identity"), agent);
      json.putObject("transport")
          .put("streaming", true)
          .put("websocket", false)
          .put("httpBinary", false)
          .put("pushNotifications", false)
          .put("resumable", true);
      var thinks = agent.type().equals("llm") || agent.type().equals("supervisor");
      json.putObject("tools")
          .put("supported", thinks || !agent.tools().isEmpty())
          .put("parallelCalls", true)
          .put("clientProvided", thinks);
      json.putObject("state")
          .put("snapshots", true)
          .put("deltas", true)
          .put("persistentState", true);
      agents(json.putObject("multiAgent"), agent);
      json.putObject("reasoning")
          .put("supported", true)
          .put("streaming", true)
          .put("encrypted", false);
      var input = json.putObject("multimodal").putObject("input");
      List.of("image", "audio", "video", "pdf", "file").forEach(kind -> input.put(kind, false));
      json.putObject("execution").put("maxExecutionTime", parts.taskTimeout().toMillis());
      json.putObject("humanInTheLoop")
          .put("supported", true)
          .put("approvals", true)
          .put("interrupts", true)
          .put("approveWithEdits", true);
      json.putObject("custom")
          .putObject("parley")
          .put("events", "/ag-ui/" + id + "/threads/{threadId}/events")
          .put("cancel", "/ag-ui/" + id + "/threads/{threadId}/cancel");
      return json;
    }

    private static void identity(ObjectNode json, AgentTypeView agent) {
      json.put("name", agent.name()).put("type", "parley");
      Json.putPresent(json, "description", agent.description());
      json.putObject("metadata").put("agentId", agent.id().value()).put("kind", agent.type());
    }

    private void agents(ObjectNode json, AgentTypeView agent) {
      var below =
          parts.agentTypes().stream()
              .filter(
                  other ->
                      agent.type().equals("supervisor")
                          ? !other.id().equals(agent.id())
                          : agent.tools().contains(AGENT_TOOL_PREFIX + other.id()))
              .toList();
      json.put("supported", !below.isEmpty()).put("delegation", !below.isEmpty());
      if (!below.isEmpty()) {
        var all = json.putArray("subagents");
        for (var other : below) {
          var one = all.addObject().put("name", other.id().value());
          Json.putPresent(one, "description", other.description());
        }
      }
    }
  }
}
