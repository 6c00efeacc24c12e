package dev.parley.server;

import dev.parley.door.Access;
import dev.parley.door.AgentType;
import dev.parley.door.ApprovalPolicy;
import dev.parley.door.Descriptions;
import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.FrameCache;
import dev.parley.door.HttpDoor;
import dev.parley.door.Metrics;
import dev.parley.door.OperatorRoutes;
import dev.parley.door.Removal;
import dev.parley.door.Route;
import dev.parley.door.Streams;
import dev.parley.door.Tail;
import dev.parley.door.a2a.A2aDoor;
import dev.parley.door.a2a.A2aSettings;
import dev.parley.door.a2a.TaskForm;
import dev.parley.door.a2a.push.Backoff;
import dev.parley.door.a2a.push.Pushes;
import dev.parley.door.a2a.sessions.SessionsDoor;
import dev.parley.door.agents.AgentsDoor;
import dev.parley.door.agui.AgUiDoor;
import dev.parley.door.chat.ChatDoor;
import dev.parley.door.contexts.ContextsDoor;
import dev.parley.door.page.PageDoor;
import dev.parley.log.EventLog;
import dev.parley.protocol.Rejection;
import dev.parley.socket.Pace;
import dev.parley.socket.SocketDoor;
import dev.parley.socket.Visit;
import dev.parley.supervisor.Supervisor;
import dev.parley.task.Tasks;
import dev.parley.tool.Poster;
import dev.parley.tool.process.ProcessCheck;
import dev.parley.vault.SignIns;
import dev.parley.vault.Vault;
import dev.parley.view.Views;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// The server: connects its components, starts them in order and closes them in reverse order.
public final class Server implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Server.class.getName());
  private static final long FRAME_CACHE_BYTES = 16L << 20;
  private static final Duration DRAIN_TASKS = Duration.ofSeconds(4);
  private static final Duration DRAIN_REQUESTS = Duration.ofSeconds(1);

  /// The components of a server, which closes them. `release` frees the resources of tasks.
  public record Parts(
      EventLog log,
      Views views,
      Tasks tasks,
      Metrics metrics,
      SignIns signIns,
      ProcessCheck processes,
      Runnable release) {

    /// The components of a server that stores no credentials and has nothing to release.
    public Parts(EventLog log, Views views, Tasks tasks, Metrics metrics, Sources sources) {
      this(
          log,
          views,
          tasks,
          metrics,
          new SignIns(Vault.inMemory(sources.vault())),
          new ProcessCheck(Set::of, false),
          () -> {});
    }

    void close() {
      try (var opened = new CloseStack()) {
        opened.add(log::close);
        opened.add(views::close);
        opened.add(signIns::close);
        opened.add(release);
        opened.add(tasks::close);
      }
    }
  }

  /// The clock, and the generator of new ids.
  public record Sources(InstantSource clock, Supplier<UUID> ids) {

    Vault.Sources vault() {
      return new Vault.Sources(clock, new SecureRandom());
    }

    /// Returns the system clock and random ids.
    public static Sources real() {
      return new Sources(InstantSource.system(), UUID::randomUUID);
    }
  }

  private final Config config;
  private final Parts parts;
  private final HttpDoor door;
  private final AgentsDoor agents;
  private final Retention retention;
  private final Pushes pushes;
  private final AtomicBoolean stopping = new AtomicBoolean();

  /// Adds everything that it opens to `opened`.
  private Server(
      Config config, Extensions extensions, Parts parts, Sources sources, CloseStack opened) {
    this.config = config;
    this.parts = parts;
    var metrics = parts.metrics();
    var streams = new Streams(config.door().limits().streams());
    var log = parts.log();
    var cache = new FrameCache(log, FRAME_CACHE_BYTES);
    var removal = new Removal(log, parts.views(), parts.tasks(), cache);
    var heartbeat = config.door().heartbeat();
    var tails = new Tail.Parts(log, cache, streams, metrics, sources.clock(), heartbeat);
    var access = new Access(log, config.door().tokens());
    var behind =
        new DoorParts(
            log,
            parts.views(),
            parts.tasks(),
            access,
            new ApprovalPolicy(config.approvals(), parts.processes()),
            removal,
            new Descriptions(log, parts.views()),
            tails,
            parts.signIns(),
            sources.clock(),
            sources.ids(),
            agentTypes(config, extensions),
            config.limits().taskTimeout());
    var contexts = new ContextsDoor(behind);
    agents = new AgentsDoor(behind, type -> honours(config, type), type -> isThere(config, type));
    var chat = new ChatDoor(behind);
    new ServerMetrics(config.data(), log, parts.views(), parts.tasks(), streams).addTo(metrics);
    var routes = new ArrayList<Route>(contexts.routes());
    routes.addAll(chat.routes());
    routes.addAll(agents.routes());
    var poster = new Poster(config.outside().privateHosts(), config.a2a().privateWebhooks());
    opened.add(poster::close);
    pushes = pushes(behind, poster);
    opened.add(pushes::close);
    removal.also(pushes::forget);
    routes.addAll(a2a(behind).routes());
    routes.addAll(new SessionsDoor(behind).routes());
    routes.addAll(new AgUiDoor(behind).routes());
    var visitors = new SocketDoor.Parts(config.door(), streams, sources.ids(), Pace.USUAL);
    routes.addAll(new SocketDoor(visitors, agents.visits()).routes("/api/agents/ws"));
    routes.addAll(new PageDoor().routes());
    routes.addAll(new OperatorRoutes(log, metrics, stopping::get).routes());
    door =
        new HttpDoor(
            new HttpDoor.Parts(config.door(), metrics, streams, sources.clock(), sources.ids()),
            routes,
            errorForms());
    opened.add(door::close);
    retention = new Retention(parts.views(), removal, sources.clock(), config.idleContexts());
  }

  private static List<ErrorForm> errorForms() {
    return Stream.of(
            List.of(ChatDoor.ERRORS, AgUiDoor.ERRORS),
            AgentsDoor.ERRORS,
            SessionsDoor.ERRORS,
            A2aDoor.ERRORS)
        .flatMap(List::stream)
        .toList();
  }

  /// Starts a server with this configuration. Returns when it accepts requests.
  ///
  /// @throws Rejection if it cannot start; the message has the remedy
  public static Server start(Config config) {
    return start(config, Extensions.NONE);
  }

  /// Starts a server with this configuration, and with agents and tools of the caller.
  ///
  /// If it cannot start, everything that was opened is closed before the error is thrown.
  ///
  /// @throws Rejection if it cannot start; the message has the remedy
  public static Server start(Config config, Extensions extensions) {
    checkSafe(config);
    var joined = config.joinedBy(extensions);
    var sources = Sources.real();
    try (var opened = new CloseStack()) {
      var parts = new Assembly(joined, sources, extensions).open();
      opened.add(parts::close);
      var server = start(joined, extensions, parts, sources);
      opened.release();
      return server;
    }
  }

  /// Starts a server with these components. Returns when it accepts requests.
  ///
  /// @throws Rejection if it cannot start; the message has the remedy
  public static Server start(Config config, Parts parts, Sources sources) {
    checkSafe(config);
    return start(config, Extensions.NONE, parts, sources);
  }

  static Server start(Config config, Extensions extensions, Parts parts, Sources sources) {
    try (var opened = new CloseStack()) {
      var server = new Server(config, extensions, parts, sources, opened);
      server.parts.tasks().recover();
      // Before clients can register or remove a webhook.
      server.pushes.start();
      server.door.start();
      server.parts.signIns().reachableAt(config.publicUrl().orElseGet(server::url));
      server.retention.start();
      opened.release();
      return server;
    }
  }

  /// Returns the URL of the server.
  public String url() {
    var host = config.door().host();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + door.port();
  }

  /// Returns the handler of Socket.IO connections that follow agents.
  Visit.Host agentVisits() {
    return agents.visits();
  }

  /// Stops within ten seconds: rejects new work, ends streams, stops tasks so that they can be
  /// resumed, then closes everything.
  @Override
  public void close() {
    if (stopping.getAndSet(true)) {
      return;
    }
    retention.close();
    parts.tasks().drain(DRAIN_TASKS);
    door.drain(DRAIN_REQUESTS);
    door.close();
    pushes.close();
    parts.close();
  }

  private Pushes pushes(DoorParts behind, Poster poster) {
    return new Pushes(
        new Pushes.Parts(
            behind.log(),
            behind.views(),
            new TaskForm(behind, config.a2a().kagent()),
            config.data().resolve("push.db"),
            parts.signIns().seal("push"),
            poster,
            behind.clock(),
            Backoff.USUAL));
  }

  private A2aDoor a2a(DoorParts behind) {
    var access = new A2aSettings.Access(config.publicUrl(), !config.door().tokens().isEmpty());
    return new A2aDoor(behind, pushes, config.a2a(), access);
  }

  private static void checkSafe(Config config) {
    var door = config.door();
    if (door.loopback() || !door.tokens().isEmpty()) {
      return;
    }
    if (!config.insecure()) {
      throw new Rejection.Invalid(
          "unsafe-address",
          "refusing to listen on "
              + door.host()
              + " without auth: anyone who can reach it could use agents and read files here."
              + " Configure auth.tokens, or listen on 127.0.0.1, or pass --insecure to allow"
              + " it.");
    }
    LOG.log(
        Level.WARNING,
        "INSECURE: anyone who can reach {0} can use this server and run commands on this machine",
        door.host());
  }

  /// Returns the options of an agent that a client may override.
  private static Set<String> honours(Config config, AgentType type) {
    return config.agents().stream()
        .filter(agent -> agent.id().equals(type.id()))
        .findFirst()
        .map(
            agent ->
                switch (agent.kind()) {
                  case Config.Kind.Llm _, Config.Kind.A2a _, Config.Kind.Conformance _ ->
                      Set.<String>of();
                  case Config.Kind.Cli(var settings) -> settings.honours();
                  case Config.Kind.Proxy _ -> Set.of("model", "allowedTools", "disallowedTools");
                })
        .orElse(Set.of());
  }

  /// Returns false if the program of the agent is not installed.
  private static boolean isThere(Config config, AgentType type) {
    return config.agents().stream()
        .filter(agent -> agent.id().equals(type.id()))
        .noneMatch(
            agent ->
                agent.kind() instanceof Config.Kind.Cli(var settings) && settings.file().isEmpty());
  }

  private static List<AgentType> agentTypes(Config config, Extensions extensions) {
    var roster = new Roster(config.agents(), extensions);
    var types = new ArrayList<AgentType>();
    var supervisor = config.supervisor();
    if (supervisor != null) {
      types.add(
          new AgentType(
              Supervisor.ID,
              "Supervisor",
              "Chooses agents for a message and combines their results in one answer",
              "supervisor",
              supervisor.model(),
              List.of(),
              List.of(),
              List.of()));
    }
    for (var agent : config.agents()) {
      types.add(
          new AgentType(
              agent.id(),
              agent.name(),
              agent.description(),
              agent.kind().wire(),
              agent.kind() instanceof Config.Kind.Llm ? agent.model() : null,
              agent.tools(),
              roster.toolNames(agent),
              agent.taskTypes()));
    }
    for (var agent : extensions.agents()) {
      types.add(
          new AgentType(
              agent.id(),
              agent.name(),
              agent.description(),
              "custom",
              null,
              List.of(),
              List.of(),
              agent.taskTypes()));
    }
    return types;
  }
}
