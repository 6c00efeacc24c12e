package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.http.FrameStream;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.stream.ContextStream;
import dev.parley.stream.EventFilter;
import dev.parley.stream.FrameCursor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The proxy routes: a request starts an agent, and the reply streams the lines of its program.
final class ProxyRoutes {

  private static final AgentTypeId CLAUDE = new AgentTypeId("claude-code");
  private static final String STREAM = "/agent/stream";

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final AgentLauncher launcher;
  private final AgentRoutes agentRoutes;
  private final ProxyFormat lines;
  private final ProxyFormat claude;

  ProxyRoutes(
      ApiDependencies parts, AgentLookup agents, AgentLauncher launcher, AgentRoutes stopping) {
    this.parts = parts;
    this.agents = agents;
    this.launcher = launcher;
    this.agentRoutes = stopping;
    this.lines = new RawLineFormat(parts.log(), parts.views());
    this.claude = new ClaudeCodeFormat(parts.log(), parts.views());
  }

  /// A request to start an agent; `agent` is its type.
  record ProxyRequest(
      @Nullable String prompt,
      @Nullable ContextId session_id,
      @Nullable String model,
      @Nullable String working_directory,
      @Nullable JsonNode mcp_config,
      @Nullable Boolean mcp_strict,
      @Nullable List<String> allowed_tools,
      @Nullable List<String> disallowed_tools,
      @Nullable AgentTypeId agent) {

    LaunchRequest launch(AgentTypeId type) {
      return new LaunchRequest(
          type,
          prompt,
          new LaunchRequest.LaunchConfiguration(
              session_id,
              null,
              working_directory,
              null,
              null,
              null,
              model,
              allowed_tools,
              disallowed_tools,
              mcp(),
              null,
              null));
    }

    private LaunchRequest.@Nullable LaunchMcpServers mcp() {
      if (mcp_config == null) {
        if (mcp_strict != null) {
          throw new Rejection.Invalid("mcp_strict needs mcp_config");
        }
        return null;
      }
      if (!mcp_config.isArray()) {
        throw new Rejection.Invalid(
            "mcp_config is a list of names of configured servers, or of {name, command} or {name,"
                + " url}");
      }
      return new LaunchRequest.LaunchMcpServers(mcp_config.valueStream().toList(), mcp_strict);
    }
  }

  /// An agent that was started.
  record ProxyStarted(TaskId agent_id, ContextId session_id, AgentStatus status) {
    static ProxyStarted of(RootTaskView agent) {
      var task = agent.task();
      return new ProxyStarted(task.taskId(), task.contextId(), AgentStatus.of(task.status()));
    }
  }

  /// The state of the server. `active_agents` is null while the views are unavailable.
  record ProxyHealth(String status, Instant timestamp, @Nullable Long active_agents) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            STREAM,
            new Route.RouteDescription(
                "Starts an agent and streams its output",
                List.of(),
                ProxyRequest.class,
                ResponseDescription.stream()),
            request -> follow(request, start(request), null)),
        Route.get(
            STREAM + "/{id}",
            "Streams the output of an agent, from the start or after Last-Event-ID",
            ResponseDescription.stream(),
            List.of(
                Parameter.header("Last-Event-ID", "the id of the last frame that was received")),
            this::resume),
        Route.withBody(
            Route.Method.POST,
            "/agent/start",
            new Route.RouteDescription(
                "Starts an agent",
                List.of(),
                ProxyRequest.class,
                ResponseDescription.one(201, ProxyStarted.class)),
            request -> new Reply.Json(201, ProxyStarted.of(start(request)))),
        Route.withoutBody(
            Route.Method.POST,
            "/agent/stop/{id}",
            "Stops an agent",
            ResponseDescription.one(ProxyStarted.class),
            this::stop),
        Route.get(
            "/health",
            "Reports that the server is up, and the number of active agents",
            ResponseDescription.one(ProxyHealth.class),
            this::health));
  }

  private RootTaskView start(Request request) {
    var wanted = request.body(ProxyRequest.class);
    var type = launcher.type(wanted.agent() == null ? defaultAgent() : wanted.agent());
    return launcher.launch(request, wanted.launch(type.id()), printsLines(type));
  }

  private AgentTypeId defaultAgent() {
    return parts.agentTypes().stream().anyMatch(type -> type.id().equals(CLAUDE))
        ? CLAUDE
        : parts.defaultAgent();
  }

  private boolean printsLines(TaskView task) {
    return task.facts().keepsAllLines()
        || parts.agentTypes().stream()
            .anyMatch(type -> type.id().equals(task.agentId()) && printsLines(type));
  }

  private static boolean printsLines(AgentTypeView type) {
    return type.type().equals("cli") || type.type().equals("proxy");
  }

  private Reply resume(Request request) {
    var agent = agents.find(request);
    var after = request.header("Last-Event-ID").map(FrameCursor::parse).orElse(null);
    if (after == null) {
      return follow(request, agent, null);
    }
    var head = parts.log().head(agent.task().contextId());
    if (after.position().after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead",
          "Last-Event-ID "
              + after.place()
              + " is ahead of the last event, which is at "
              + head
              + ": leave it out to start from the beginning");
    }
    if (after.part() == 0 && ended(agent, after)) {
      // The reader has all frames. This status stops an EventSource from reconnecting.
      return new Reply.Empty(204);
    }
    return follow(request, agent, after);
  }

  private static boolean ended(RootTaskView agent, FrameCursor after) {
    return agent.endSeq() != null && after.position().seq() >= agent.endSeq();
  }

  /// Streams the original lines of the program, or lines made from events if it prints none or if
  /// the caller may not read internal events.
  private Reply follow(Request request, RootTaskView agent, @Nullable FrameCursor after) {
    var task = agent.task();
    var raw = printsLines(task) && parts.access().mayReadInternal(request.caller());
    var streamRequest =
        new ContextStream.StreamRequest(
            task.contextId(),
            after == null ? Position.of(task.seq() - 1) : after.position(),
            EventFilter.tree(task.taskId()).withInternal(),
            raw ? lines : claude,
            false,
            task.taskId(),
            null);
    var contextStream = new ContextStream(parts.streamDependencies(), streamRequest);
    var rest = after == null ? new byte[0] : rest(streamRequest, after, raw ? lines : claude);
    FrameStream whole =
        frameSink -> {
          frameSink.write(ByteBuffer.wrap(rest));
          // No frame follows the end of the task.
          if (after == null || !ended(agent, after)) {
            contextStream.run(frameSink);
          }
        };
    return new Reply.Stream(
        rest.length == 0 ? contextStream : whole,
        Map.of("X-Agent-Id", task.taskId().value(), "X-Session-Id", task.contextId().value()));
  }

  /// The frames of an entry that an interrupted reader has not got.
  private byte[] rest(
      ContextStream.StreamRequest streamRequest, FrameCursor after, ProxyFormat format) {
    var bytes = new ByteArrayOutputStream();
    if (after.part() > 0) {
      parts.log().read(streamRequest.context(), FrameCursor.before(after.position()), 1).stream()
          .filter(
              entry ->
                  entry.position().equals(after.position())
                      && streamRequest.filter().accepts(entry))
          .map(format::frames)
          .filter(frames -> frames.size() > after.part())
          .flatMap(frames -> frames.subList(after.part(), frames.size()).stream())
          .forEach(bytes::writeBytes);
    }
    return bytes.toByteArray();
  }

  private Reply stop(Request request) {
    var agent = agents.find(request);
    if (!AgentStatus.of(agent.task().status()).ended()) {
      agentRoutes.cancel(request, agent);
    }
    return new Reply.Json(200, ProxyStarted.of(agents.find(request)));
  }

  private Reply health(Request request) {
    return new Reply.Json(
        200, new ProxyHealth("ok", parts.time().instant(), agents.countOpen(request.caller())));
  }
}
