package dev.parley.door.agents;

import dev.parley.door.AgentType;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.EventFilter;
import dev.parley.door.EventStream;
import dev.parley.door.FrameCursor;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.Tail;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.RootView;
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

  private final DoorParts parts;
  private final AgentLookup agents;
  private final Launcher launcher;
  private final AgentRoutes stopping;
  private final ProxyFormat lines;
  private final ProxyFormat claude;

  ProxyRoutes(DoorParts parts, AgentLookup agents, Launcher launcher, AgentRoutes stopping) {
    this.parts = parts;
    this.agents = agents;
    this.launcher = launcher;
    this.stopping = stopping;
    this.lines = new LineFormat(parts.log(), parts.views());
    this.claude = new ClaudeFormat(parts.log(), parts.views());
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

    Launch launch(AgentTypeId type) {
      return new Launch(
          type,
          prompt,
          new Launch.Configuration(
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

    private Launch.@Nullable Mcp mcp() {
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
      return new Launch.Mcp(mcp_config.valueStream().toList(), mcp_strict);
    }
  }

  /// An agent that was started.
  record Started(TaskId agent_id, ContextId session_id, AgentStatus status) {
    static Started of(RootView agent) {
      var task = agent.task();
      return new Started(task.taskId(), task.contextId(), AgentStatus.of(task.status()));
    }
  }

  /// The state of the server. `active_agents` is null while the views are unavailable.
  record ProxyHealth(String status, Instant timestamp, @Nullable Long active_agents) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            STREAM,
            new Route.Description(
                "Starts an agent and streams its output",
                List.of(),
                ProxyRequest.class,
                Answer.stream()),
            request -> follow(request, start(request), null)),
        Route.get(
            STREAM + "/{id}",
            "Streams the output of an agent, from the start or after Last-Event-ID",
            Answer.stream(),
            List.of(
                Parameter.header("Last-Event-ID", "the id of the last frame that was received")),
            this::resume),
        Route.send(
            Route.Method.POST,
            "/agent/start",
            new Route.Description(
                "Starts an agent", List.of(), ProxyRequest.class, Answer.one(201, Started.class)),
            request -> new Reply.Json(201, Started.of(start(request)))),
        Route.act(
            Route.Method.POST,
            "/agent/stop/{id}",
            "Stops an agent",
            Answer.one(Started.class),
            this::stop),
        Route.get(
            "/health",
            "Reports that the server is up, and the number of active agents",
            Answer.one(ProxyHealth.class),
            this::health));
  }

  private RootView start(Request request) {
    var wanted = request.body(ProxyRequest.class);
    var type = launcher.type(wanted.agent() == null ? standard() : wanted.agent());
    return launcher.launch(request, wanted.launch(type.id()), printsLines(type));
  }

  private AgentTypeId standard() {
    return parts.agentTypes().stream().anyMatch(type -> type.id().equals(CLAUDE))
        ? CLAUDE
        : parts.standard();
  }

  private static boolean printsLines(AgentType type) {
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

  private static boolean ended(RootView agent, FrameCursor after) {
    return agent.endSeq() != null && after.position().seq() >= agent.endSeq();
  }

  /// Streams the original lines of the program, or lines made from events if it prints none or if
  /// the caller may not read internal events.
  private Reply follow(Request request, RootView agent, @Nullable FrameCursor after) {
    var task = agent.task();
    var metadata = task.metadata();
    var raw =
        metadata != null
            && metadata.path(Launch.RAW).asString("").equals(Launch.RAW_ALL)
            && parts.access().mayReadInternal(request.principal());
    var wish =
        new Tail.Wish(
            task.contextId(),
            after == null ? Position.of(task.seq() - 1) : after.position(),
            EventFilter.tree(task.taskId()).withInternal(),
            raw ? lines : claude,
            false,
            task.taskId(),
            null);
    var tail = new Tail(parts.tails(), wish);
    var rest = after == null ? new byte[0] : rest(wish, after, raw ? lines : claude);
    EventStream whole =
        sink -> {
          sink.write(ByteBuffer.wrap(rest));
          // No frame follows the end of the task.
          if (after == null || !ended(agent, after)) {
            tail.run(sink);
          }
        };
    return new Reply.Stream(
        rest.length == 0 ? tail : whole,
        Map.of("X-Agent-Id", task.taskId().value(), "X-Session-Id", task.contextId().value()));
  }

  /// The frames of an entry that an interrupted reader has not got.
  private byte[] rest(Tail.Wish wish, FrameCursor after, ProxyFormat format) {
    var bytes = new ByteArrayOutputStream();
    if (after.part() > 0) {
      parts.log().read(wish.context(), FrameCursor.before(after.position()), 1).stream()
          .filter(
              entry -> entry.position().equals(after.position()) && wish.filter().accepts(entry))
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
      stopping.cancel(request, agent);
    }
    return new Reply.Json(200, Started.of(agents.find(request)));
  }

  private Reply health(Request request) {
    return new Reply.Json(
        200, new ProxyHealth("ok", parts.clock().instant(), agents.countOpen(request.principal())));
  }
}
