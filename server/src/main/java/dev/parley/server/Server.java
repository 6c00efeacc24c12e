package dev.parley.server;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApprovalPolicy;
import dev.parley.api.ContextAccess;
import dev.parley.api.ContextDeletion;
import dev.parley.api.ContextEditor;
import dev.parley.api.a2a.A2aApi;
import dev.parley.api.a2a.A2aSettings;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.push.PushDatabase;
import dev.parley.api.a2a.push.PushNotifier;
import dev.parley.api.agui.AgUiApi;
import dev.parley.api.contexts.ContextsApi;
import dev.parley.api.controls.ControlsApi;
import dev.parley.api.identity.IdentityApi;
import dev.parley.api.page.PageRoutes;
import dev.parley.audit.AuditDatabase;
import dev.parley.audit.AuditTrail;
import dev.parley.auth.SignIns;
import dev.parley.auth.TokenClient;
import dev.parley.auth.Vault;
import dev.parley.control.TaskControls;
import dev.parley.http.ApiTokens;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.AuditRoutes;
import dev.parley.http.HttpListener;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.http.OperatorRoutes;
import dev.parley.http.Route;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.Identities;
import dev.parley.identity.Identities.IdentitySettings;
import dev.parley.identity.IdentityDatabase;
import dev.parley.identity.oidc.OidcSettings;
import dev.parley.identity.oidc.OidcSignIn;
import dev.parley.log.EventLog;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.stream.EventFormat;
import dev.parley.stream.FrameCache;
import dev.parley.stream.LiveStreams;
import dev.parley.stream.StreamDependencies;
import dev.parley.supervisor.Supervisor;
import dev.parley.task.Tasks;
import dev.parley.tool.WebhookClient;
import dev.parley.tool.process.ClientProcessCheck;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// The server: connects its components, starts them in order and closes them in reverse order.
public final class Server implements RunningServer {

  private static final System.Logger LOG = System.getLogger(Server.class.getName());
  private static final long FRAME_CACHE_BYTES = 16L << 20;
  static final Duration DRAIN_TASKS = Duration.ofSeconds(4);
  private static final Duration DRAIN_REQUESTS = Duration.ofSeconds(1);

  /// The components of a server, which closes them. `release` frees the resources of tasks.
  public record ServerDependencies(
      EventLog log,
      Views views,
      Tasks tasks,
      Metrics metrics,
      SignIns signIns,
      ClientProcessCheck processes,
      TaskControls controls,
      AnswerAudit answers,
      Runnable release) {

    /// The components of a server that stores no credentials and has nothing to release.
    public ServerDependencies(
        EventLog log, Views views, Tasks tasks, Metrics metrics, ServerSources sources) {
      this(
          log,
          views,
          tasks,
          metrics,
          new SignIns(
              Vault.inMemory(sources.vault()),
              Map.of(),
              new TokenClient(
                  new OutgoingHttpClient(sources.time(), sources.threads()),
                  new AddressPolicy(Set.of())),
              sources.time()),
          new ClientProcessCheck(Set::of, false),
          TaskControls.inMemory(),
          new AnswerAudit(),
          () -> {});
    }

    void close() {
      try (var opened = new CloseStack()) {
        opened.add(log::close);
        opened.add(views::close);
        opened.add(release);
        opened.add(tasks::close);
      }
    }
  }

  /// Time, threads, and the generator of new ids.
  public record ServerSources(Time time, Threads threads, Supplier<UUID> ids) {

    Vault.VaultSources vault() {
      return new Vault.VaultSources(time, new SecureRandom());
    }

    /// Returns the time and threads of the machine, and random ids.
    public static ServerSources real() {
      var threads = new SystemThreads();
      return new ServerSources(new SystemTime(threads), threads, UUID::randomUUID);
    }
  }

  /// What creates the listener of a server, and where its webhooks, its audit trail, and its people
  /// and keys are stored.
  record ServerPorts(
      ServerListener.ListenerFactory listening,
      PushDatabase webhooks,
      AuditDatabase audit,
      IdentityDatabase identities) {

    /// A listener of its own, and everything in the data folder.
    static ServerPorts own(Config config, ServerSources sources) {
      return new ServerPorts(
          ServerListener::ownListener,
          PushDatabase.file(config.data().resolve("push.db"), sources.time()),
          AuditDatabase.file(config.data().resolve("audit.db")),
          IdentityDatabase.file(config.data().resolve("identity.db")));
    }

    /// Everything in the database of a cluster, which only its active node writes.
    static ServerPorts shared(
        ServerListener.ListenerFactory listening, PostgresDatabase database, PostgresNode node) {
      return new ServerPorts(
          listening,
          PushDatabase.shared(database, node),
          AuditDatabase.shared(database, node),
          IdentityDatabase.shared(database, node));
    }
  }

  private final Config config;
  private final ServerDependencies serverDependencies;
  private final ServerListener http;
  private final LiveStreams liveStreams;
  private final Retention retention;
  private final PushNotifier pushNotifier;
  private final AuditTrail audit;
  private final Identities identities;
  private final AtomicBoolean stopping = new AtomicBoolean();

  /// Adds everything that it opens to `opened`.
  private Server(
      Config config,
      Extensions extensions,
      ServerDependencies serverDependencies,
      ServerSources serverSources,
      ServerPorts ports,
      CloseStack opened) {
    this.config = config;
    this.serverDependencies = serverDependencies;
    var metrics = serverDependencies.metrics();
    var openStreams = new OpenStreams(config.http().limits().streams(), serverSources.time());
    var log = serverDependencies.log();
    var cache = new FrameCache(log, FRAME_CACHE_BYTES);
    var contextDeletion =
        new ContextDeletion(log, serverDependencies.views(), serverDependencies.tasks(), cache);
    var heartbeat = config.http().heartbeat();
    liveStreams = new LiveStreams(serverSources.threads(), serverSources.time(), heartbeat);
    opened.add(liveStreams::close);
    var tails =
        new StreamDependencies(
            log, cache, openStreams, liveStreams, metrics, serverSources.time(), heartbeat);
    audit =
        new AuditTrail(
            ports.audit(), config.audit(), serverSources.time(), serverSources.threads());
    opened.add(audit::close);
    serverDependencies.answers().start(audit);
    identities = identities(config, serverSources, ports.identities());
    opened.add(identities::close);
    contextDeletion.onDelete(identities.shares()::removeContext);
    var accessPolicy = new AccessPolicy(identities.shares());
    var contextAccess = new ContextAccess(log, accessPolicy, audit, config.http().tokens());
    var apiTokens =
        new ApiTokens(
            config.http().tokens(),
            config.http().loginRequired(),
            identities,
            serverSources.time());
    var behind =
        new ApiDependencies(
            log,
            serverDependencies.views(),
            serverDependencies.tasks(),
            contextAccess,
            new ApprovalPolicy(config.approvals(), serverDependencies.processes()),
            contextDeletion,
            new ContextEditor(log, serverDependencies.views()),
            tails,
            serverDependencies.signIns(),
            serverSources.time(),
            serverSources.threads(),
            serverSources.ids(),
            agentTypes(config, extensions),
            id -> launchOptions(config, id),
            config.http(),
            apiTokens,
            config.limits().taskTimeout());
    var modules = extensions.apis().stream().map(module -> module.create(behind)).toList();
    var formats = new HashMap<String, EventFormat>();
    modules.forEach(module -> formats.putAll(module.eventFormats()));
    new ServerMetrics(
            config.data(),
            log,
            serverDependencies.views(),
            serverDependencies.tasks(),
            openStreams,
            serverDependencies.controls().budgets())
        .addTo(metrics);
    var routes = new ArrayList<Route>(new ContextsApi(behind, formats).routes());
    var errorFormats = new ArrayList<>(List.of(AgUiApi.ERRORS));
    errorFormats.addAll(A2aApi.ERRORS);
    for (var module : modules) {
      routes.addAll(module.routes());
      errorFormats.addAll(module.errorFormats());
    }
    var webhookClient =
        new WebhookClient(
            new OutgoingHttpClient(serverSources.time(), serverSources.threads()),
            config.toolEnvironment().privateHosts(),
            config.a2a().privateWebhooks());
    opened.add(webhookClient::close);
    pushNotifier = pushes(behind, webhookClient, ports.webhooks());
    opened.add(pushNotifier::close);
    contextDeletion.onDelete(pushNotifier::removeContext);
    contextDeletion.beforeDelete(serverDependencies.controls().budgets()::settle);
    routes.addAll(a2a(behind).routes());
    routes.addAll(new AgUiApi(behind).routes());
    var budgets = serverDependencies.controls().budgets();
    var budgeted = BudgetedRoutes.of(routes, budgets);
    routes.clear();
    routes.addAll(budgeted);
    routes.addAll(new ControlsApi(behind, serverDependencies.controls()).routes());
    routes.addAll(new AuditRoutes(audit).routes());
    var oidc = config.signIn().map(settings -> oidc(settings, serverSources, opened));
    routes.addAll(
        new IdentityApi(behind, accessPolicy, identities, config.publicUrl(), oidc).routes());
    routes.addAll(new PageRoutes().routes());
    routes.addAll(new OperatorRoutes(log, metrics, stopping::get).routes());
    routes.replaceAll(route -> guarded(route, serverDependencies.processes()));
    http =
        ports
            .listening()
            .create(
                new HttpListener.HttpListenerDependencies(
                    config.http(),
                    apiTokens,
                    accessPolicy,
                    audit,
                    metrics,
                    openStreams,
                    serverSources.time(),
                    serverSources.threads(),
                    serverSources.ids()),
                routes,
                errorFormats);
    opened.add(http::close);
    retention =
        new Retention(
            serverDependencies.views(),
            contextDeletion,
            serverSources.time(),
            config.idleContexts());
  }

  private OidcSignIn oidc(OidcSettings settings, ServerSources sources, CloseStack opened) {
    var oidc =
        new OidcSignIn(
            settings,
            new OutgoingHttpClient(sources.time(), sources.threads()),
            identities.externalPeople(),
            sources.time());
    opened.add(oidc::close);
    return oidc;
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
    var joined = config.withExtensions(extensions);
    if (Files.notExists(joined.data())) {
      // A start that fails must not leave an empty data folder.
      HttpListener.checkAddress(joined.http());
    }
    var serverSources = ServerSources.real();
    var ports = ServerPorts.own(joined, serverSources);
    var separated = joined.withTenantsOf(ports.identities());
    try (var opened = new CloseStack()) {
      var serverDependencies = new ServerFactory(separated, serverSources, extensions).create();
      opened.add(serverDependencies::close);
      var server = run(separated, extensions, serverDependencies, serverSources, ports);
      opened.release();
      return server;
    }
  }

  /// Starts a server with these components. Returns when it accepts requests.
  ///
  /// @throws Rejection if it cannot start; the message has the remedy
  public static Server start(
      Config config,
      Extensions extensions,
      ServerDependencies serverDependencies,
      ServerSources serverSources) {
    checkSafe(config);
    return run(
        config,
        extensions,
        serverDependencies,
        serverSources,
        ServerPorts.own(config, serverSources));
  }

  /// Starts a server with these components. If this fails, they stay open.
  static Server run(
      Config config,
      Extensions extensions,
      ServerDependencies serverDependencies,
      ServerSources serverSources,
      ServerPorts ports) {
    try (var opened = new CloseStack()) {
      var server = new Server(config, extensions, serverDependencies, serverSources, ports, opened);
      server.serverDependencies.tasks().recover();
      // Before clients can register or remove a webhook.
      server.pushNotifier.start();
      server.http.start();
      server.serverDependencies.signIns().setPublicUrl(config.publicUrl().orElseGet(server::url));
      server.retention.start(serverSources.threads());
      opened.release();
      return server;
    }
  }

  @Override
  public String url() {
    return config.http().url(http.port());
  }

  /// Stops within ten seconds: rejects new work, ends streams, stops tasks so that they can be
  /// resumed, then closes everything.
  @Override
  public void close() {
    close(tasks -> tasks.drain(DRAIN_TASKS));
  }

  /// Does the same, and ends the running tasks with `endTasks`.
  void close(Consumer<Tasks> endTasks) {
    if (stopping.getAndSet(true)) {
      return;
    }
    retention.close();
    endTasks.accept(serverDependencies.tasks());
    http.drain(DRAIN_REQUESTS);
    http.close();
    liveStreams.close();
    pushNotifier.close();
    identities.close();
    serverDependencies.close();
    audit.close();
  }

  private static Identities identities(
      Config config, ServerSources sources, IdentityDatabase database) {
    var tokens =
        config.http().tokens().stream().map(ApiToken::name).collect(Collectors.toUnmodifiableSet());
    return new Identities(
        database,
        new IdentitySettings(tokens, config.containment().acceptsTenants()),
        sources.time(),
        sources.threads(),
        () -> sources.ids().get().toString());
  }

  private PushNotifier pushes(
      ApiDependencies behind, WebhookClient webhookClient, PushDatabase webhooks) {
    return new PushNotifier(
        new PushNotifier.PushNotifierDependencies(
            behind.log(),
            behind.views(),
            new A2aTaskReader(behind, config.a2a().kagent()),
            webhooks,
            serverDependencies.signIns().cipher("push"),
            webhookClient,
            behind.time(),
            behind.threads()));
  }

  private A2aApi a2a(ApiDependencies behind) {
    var a2aAccess = new A2aSettings.A2aAccess(config.publicUrl(), config.http().authenticated());
    return new A2aApi(behind, pushNotifier, config.a2a(), a2aAccess);
  }

  /// The same route, for all but isolated programs that may not use this server.
  private static Route guarded(Route route, ClientProcessCheck processes) {
    return route.handledBy(
        request -> {
          if (processes.excludes(request.peer())) {
            throw new Rejection.Forbidden(
                "isolated-program",
                "this request comes from a program that an agent started, which may not use this"
                    + " server; isolation.ownServer in the configuration can allow it");
          }
          return route.handler().handle(request);
        });
  }

  static void checkSafe(Config config) {
    if (config.encryption().isOn() && !config.vault().inMemory() && config.vault().key() == null) {
      throw new Rejection.Invalid(
          "vault-key-missing",
          "encryption needs a key of the vault that is not stored beside it: set PARLEY_VAULT_KEY to"
              + " the content of vault.key in the data folder and delete that file, or to a new key"
              + " if there is no vault yet; or set vault.store: memory");
    }
    var api = config.http();
    if (api.loopback() || api.authenticated()) {
      return;
    }
    if (!config.insecure()) {
      throw new Rejection.Invalid(
          "unsafe-address",
          "refusing to listen on "
              + api.host()
              + " without auth: anyone who can reach it could use agents and read files here."
              + " Configure auth.tokens or auth.required, or listen on 127.0.0.1, or pass --insecure to allow"
              + " it.");
    }
    LOG.log(
        Level.WARNING,
        "INSECURE: anyone who can reach {0} can use this server and run commands on this machine",
        api.host());
  }

  private static ApiDependencies.LaunchOptions launchOptions(Config config, AgentTypeId id) {
    return config.agents().stream()
        .filter(agent -> agent.id().equals(id))
        .findFirst()
        .map(
            agent ->
                switch (agent.kind()) {
                  case AgentKind.Llm _, AgentKind.A2a _, AgentKind.Provided _ ->
                      ApiDependencies.LaunchOptions.NONE;
                  case AgentKind.Cli(var settings) ->
                      new ApiDependencies.LaunchOptions(
                          settings.supportedOverrides(), settings.file().isPresent());
                  case AgentKind.Proxy _ ->
                      new ApiDependencies.LaunchOptions(
                          Set.of("model", "allowedTools", "disallowedTools"), true);
                })
        .orElse(ApiDependencies.LaunchOptions.NONE);
  }

  private static List<AgentTypeView> agentTypes(Config config, Extensions extensions) {
    var agentRegistry = new AgentRegistry(config.agents(), extensions);
    var types = new ArrayList<AgentTypeView>();
    var supervisorConfig = config.supervisor();
    if (supervisorConfig != null) {
      types.add(
          new AgentTypeView(
              Supervisor.ID,
              "Supervisor",
              "Chooses agents for a message and combines their results in one answer",
              "supervisor",
              supervisorConfig.model(),
              List.of(),
              List.of(),
              List.of()));
    }
    for (var agent : config.agents()) {
      types.add(
          new AgentTypeView(
              agent.id(),
              agent.name(),
              agent.description(),
              agent.kind().wire(),
              agent.kind() instanceof AgentKind.Llm ? agent.model() : null,
              agent.tools(),
              agentRegistry.toolNames(agent),
              agent.taskTypes()));
    }
    for (var agent : extensions.agents()) {
      types.add(
          new AgentTypeView(
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
