package dev.parley.server;

import dev.parley.auth.Vault;
import dev.parley.cluster.Membership;
import dev.parley.cluster.Membership.MembershipDependencies;
import dev.parley.cluster.Membership.RoleListener;
import dev.parley.cluster.PostgresNodeTable;
import dev.parley.control.ControlDatabase;
import dev.parley.http.ErrorFormat;
import dev.parley.http.ForwardedClient;
import dev.parley.http.HttpListener;
import dev.parley.http.HttpListener.Forwarding;
import dev.parley.http.HttpListener.HttpListenerDependencies;
import dev.parley.http.JvmMetrics;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.http.Route;
import dev.parley.http.ServerLocation.Elsewhere;
import dev.parley.http.ServerLocation.Here;
import dev.parley.http.ServerLocation.Location;
import dev.parley.http.ServerLocation.Unknown;
import dev.parley.log.DataFolder;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.FencedException;
import dev.parley.log.LogTuning;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresDatabase.ClusterIdentity;
import dev.parley.log.PostgresLog;
import dev.parley.log.PostgresLog.PostgresLogDependencies;
import dev.parley.log.PostgresLog.PostgresReaderDependencies;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.projection.ContextFeed.FeedStart;
import dev.parley.projection.ViewFollower;
import dev.parley.projection.ViewStorage;
import dev.parley.projection.ViewsRuntime;
import dev.parley.protocol.Rejection;
import dev.parley.server.ClusterRoutes.ClusterState;
import dev.parley.server.Config.SharedDatabase;
import dev.parley.server.Server.ServerPorts;
import dev.parley.server.Server.ServerSources;
import dev.parley.server.ServerFactory.ViewsFile;
import dev.parley.task.Tasks;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A server that shares a PostgreSQL database with others.
///
/// One of them is active: it writes the log and runs the tasks. The others forward all requests to
/// it, and one of them takes over if it ends. The listener of this server is open all the time;
/// only what it does with requests changes.
public final class ClusterServer implements RunningServer {

  private static final Logger LOG = System.getLogger(ClusterServer.class.getName());

  /// How often a server that starts says what it waits for.
  private static final Duration START_NOTICE = Duration.ofSeconds(10);

  private static final Duration DRAIN_REQUESTS = Duration.ofSeconds(1);

  /// The pause after a failed attempt to become active, so that another server can try. It doubles
  /// with each further attempt that fails.
  private static final Duration FAILED_PAUSE = Duration.ofSeconds(2);

  private static final int PAUSE_DOUBLINGS_MAX = 5;

  /// A server that listens on all addresses cannot tell others which of them to use.
  private static final Set<String> ALL_ADDRESSES = Set.of("0.0.0.0", "::", "[::]");

  /// Never active, so nothing is written for it.
  private static final PostgresNode NO_NODE = new PostgresNode(0);

  private final Config config;
  private final Extensions extensions;
  private final ServerSources sources;
  private final PostgresDatabase database;
  private final ClusterIdentity identity;
  private final Forwarding forwarding;
  private final ClusterRoutes clusterRoutes;
  private final HttpListenerDependencies standby;
  private final HttpListener listener;
  // The connections of the active server, until its work has ended.
  private final Map<PostgresNode, PostgresDatabase> databases = new ConcurrentHashMap<>();
  private final AtomicLong takeovers = new AtomicLong();
  private final LinkedBlockingQueue<RoleChange> changes = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> started = new CompletableFuture<>();
  private final Thread roles;
  private final DataFolder folder;
  private volatile @Nullable Membership membership;
  private volatile String address = "";
  private volatile boolean stopping;
  private final Path viewsFile;
  // For the thread of the roles, and after its end for that of `close`.
  private @Nullable ViewFollower follower;
  private @Nullable EventLog sealedLog;
  private @Nullable PostgresNode node;
  private @Nullable Server server;
  private int failures;

  /// What the thread of the roles does next.
  private sealed interface RoleChange {}

  private record Activate(PostgresNode node) implements RoleChange {}

  private record Deactivate(PostgresNode node, String reason, boolean orderly)
      implements RoleChange {}

  private record End() implements RoleChange {}

  private ClusterServer(
      Config config,
      Extensions extensions,
      ServerSources sources,
      PostgresDatabase database,
      ClusterIdentity identity,
      DataFolder folder) {
    this.config = config;
    this.folder = folder;
    this.extensions = extensions;
    this.sources = sources;
    this.database = database;
    this.identity = identity;
    // Not views.db, which may belong to a log in this folder.
    this.viewsFile = config.data().resolve("views-" + identity.name() + ".db");
    var forwardedClient =
        new ForwardedClient(
            identity.deriveKey("forwarding"),
            ForwardedClient.thisMachine(sources.ids().get().toString()));
    this.forwarding = new Forwarding(this::locate, forwardedClient);
    this.clusterRoutes =
        new ClusterRoutes(
            database,
            () -> Optional.ofNullable(membership),
            new ClusterState(() -> stopping, takeovers::get, this::forwarded));
    var metrics = new Metrics();
    JvmMetrics.addTo(metrics, ParleyVersion.text());
    clusterRoutes.addTo(metrics);
    this.standby =
        new HttpListenerDependencies(
            config.http(),
            metrics,
            new OpenStreams(config.http().limits().streams(), sources.time()),
            sources.time(),
            sources.threads(),
            sources.ids());
    this.listener = new HttpListener(standby, forwarding, clusterRoutes.standby(metrics));
    this.roles = sources.threads().unstarted("parley-roles", this::runRoles);
  }

  /// Joins the cluster. Returns when a server of it is active, this one or another.
  ///
  /// @throws Rejection if it cannot start; the message has the remedy
  public static ClusterServer start(Config config, Extensions extensions, SharedDatabase shared) {
    Server.checkSafe(config);
    checkAddress(config, shared);
    var joined = config.withExtensions(extensions);
    var sources = ServerSources.real();
    var database = new PostgresDatabase(shared.address());
    var identity = prepare(database);
    try (var opened = new CloseStack()) {
      var folder = DataFolder.claim(joined.data());
      opened.add(folder::close);
      // Another server may continue their tasks already, or soon.
      ServerFactory.endLeftovers(joined, sources);
      if (Files.exists(joined.data().resolve("log.db"))) {
        LOG.log(
            Level.WARNING,
            "{0} contains a log of its own, which this server does not use",
            joined.data());
      }
      var server = new ClusterServer(joined, extensions, sources, database, identity, folder);
      opened.add(server::close);
      server.checkVault();
      EncryptionDiagnosis.check(server.database, config.encryption());
      server.listener.start();
      server.join(shared);
      opened.release();
      return server;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the start was interrupted");
    }
  }

  /// @throws Rejection.Invalid if the other servers could not reach this one
  private static void checkAddress(Config config, SharedDatabase shared) {
    var host = config.http().host();
    if (shared.nodeAddress() == null && ALL_ADDRESSES.contains(host)) {
      throw new Rejection.Invalid(
          "With --db and --host %s, pass the address at which the other servers reach this one:"
                  .formatted(host)
              + " --node-address http://HOST:PORT");
    }
  }

  private static ClusterIdentity prepare(PostgresDatabase database) {
    try {
      database.migrate();
      return database.identity();
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the database %s cannot be used: %s".formatted(database, failed.getMessage()));
    }
  }

  private void join(SharedDatabase shared) throws InterruptedException {
    address = shared.nodeAddress() == null ? url() : shared.nodeAddress().toString();
    roles.start();
    membership =
        Membership.join(
            new MembershipDependencies(
                new PostgresNodeTable(database),
                new NodeInfo(address, ParleyVersion.text()),
                sources.time(),
                sources.threads()),
            new RoleQueue());
    while (!(locate(START_NOTICE) instanceof Elsewhere) && !isStarted()) {
      LOG.log(Level.INFO, "waiting for a server of {0} to become active", database);
    }
  }

  /// Waits until this server is active, if it is about to be.
  private boolean isStarted() throws InterruptedException {
    try {
      started.get(START_NOTICE.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException later) {
      return false;
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof Rejection rejection
          ? rejection
          : new IllegalStateException("the server failed to start", failed.getCause());
    }
  }

  @Override
  public String url() {
    return config.http().url(listener.port());
  }

  private int forwarded() {
    return listener.forwardedConnections();
  }

  /// Where requests are served now.
  private Location locate(Duration patience) throws InterruptedException {
    var joined = membership;
    if (joined == null) {
      return new Unknown();
    }
    var active = joined.awaitActive(patience);
    if (active.isEmpty()) {
      return new Unknown();
    }
    return joined.isSelf(active.get())
        ? new Here()
        : new Elsewhere(URI.create(active.get().info().address()));
  }

  private void warnOfEqualAddress() {
    var joined = membership;
    if (joined == null) {
      return;
    }
    joined
        .active()
        .filter(node -> !joined.isSelf(node) && node.info().address().equals(address))
        .ifPresent(
            node ->
                LOG.log(
                    Level.WARNING,
                    "the active server, {0}, has the same address as this one, {1}: requests cannot"
                        + " be forwarded. Start each server with the --node-address at which the"
                        + " others reach it",
                    node.id(),
                    address));
  }

  /// Passes changes of the role to the thread of the roles.
  private final class RoleQueue implements RoleListener {
    @Override
    public void activated(PostgresNode activeNode) {
      databases.put(activeNode, database.abandonable());
      changes.add(new Activate(activeNode));
    }

    @Override
    public void deactivated(PostgresNode activeNode, String reason, boolean orderly) {
      var used = databases.get(activeNode);
      if (!orderly && used != null) {
        // Threads of the active server may wait for the database, which perhaps never replies.
        used.abandon();
      }
      changes.add(new Deactivate(activeNode, reason, orderly));
    }

    @Override
    public void activeChanged() {
      listener.closeForwarded();
      warnOfEqualAddress();
    }

    @Override
    public void failed(Throwable cause) {
      extensions.fatal().failed("parley-membership", cause);
    }
  }

  private void runRoles() {
    try {
      follow();
      while (true) {
        switch (changes.take()) {
          case Activate(var activeNode) -> activate(activeNode);
          case Deactivate deactivation -> deactivate(deactivation);
          case End() -> {
            return;
          }
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (Throwable broken) { // The root of a thread, without which no role can change.
      extensions.fatal().failed("parley-roles", broken);
    }
  }

  /// Keeps the views up to date while this server is a standby one, so that its lists are complete
  /// soon after it takes over.
  private void follow() {
    if (config.encryption().isOn()) {
      // The views are then only in memory, and the active server computes them itself.
      ViewStorage.inMemoryInsteadOf(viewsFile).deleteUnused();
      return;
    }
    try {
      var sealed =
          PostgresLog.openSealed(
              new PostgresReaderDependencies(
                  database,
                  sources.time(),
                  sources.threads(),
                  LogTuning.DEFAULT,
                  config.encryption().forLog()));
      sealedLog = sealed;
      follower =
          new ViewFollower(
              viewsFile,
              sealed,
              new ViewsRuntime(sources.time(), sources.threads(), FatalHandler.NONE));
    } catch (RuntimeException failed) { // The root of what this thread does for a role.
      LOG.log(Level.WARNING, "the views are not kept up to date: {0}", failed.toString());
      stopFollowing();
    }
  }

  private void stopFollowing() {
    if (follower != null) {
      follower.close();
      follower = null;
    }
    if (sealedLog != null) {
      sealedLog.close();
      sealedLog = null;
    }
  }

  private void activate(PostgresNode activeNode) {
    node = activeNode;
    try {
      stopFollowing();
      server = openServer(activeNode);
      failures = 0;
      takeovers.incrementAndGet();
      LOG.log(Level.INFO, "node {0} is active", activeNode.id());
      started.complete(null);
    } catch (RuntimeException failed) { // The root of what this thread does for a role.
      LOG.log(Level.ERROR, "node " + activeNode.id() + " cannot become active", failed);
      node = null;
      resign(activeNode, FAILED_PAUSE.multipliedBy(1L << failures));
      failures = Math.min(failures + 1, PAUSE_DOUBLINGS_MAX);
      follow();
      started.completeExceptionally(failed);
    }
  }

  private Server openServer(PostgresNode activeNode) {
    var shared = Objects.requireNonNull(databases.get(activeNode));
    var ports = ServerPorts.shared(SharedListener::new, shared, activeNode);
    var separated = config.withTenantsOf(ports.identities());
    var factory = new ServerFactory(separated, sources, extensions);
    var dependencies =
        factory.create(
            () ->
                PostgresLog.open(
                    new PostgresLogDependencies(
                        shared,
                        activeNode,
                        sources.time(),
                        sources.threads(),
                        new SecureRandom(),
                        LogTuning.DEFAULT,
                        config.encryption().forLog()),
                    (thread, cause) -> failed(activeNode, thread, cause)),
            () -> vault(new SharedVault(shared, activeNode)),
            new ViewsFile(viewsFile, FeedStart.RESTART),
            ControlDatabase.shared(shared, activeNode));
    try (var opened = new CloseStack()) {
      opened.add(dependencies::close);
      var running = Server.run(separated, extensions, dependencies, sources, ports);
      opened.release();
      return running;
    }
  }

  private Vault vault(SharedVault storage) {
    var key = config.vault().key();
    return Vault.in(storage, key == null ? identity.deriveKey("vault") : key, sources.vault());
  }

  /// Checks that this server could use the credentials of the cluster if it took over.
  private void checkVault() {
    if (config.vault().inMemory()) {
      LOG.log(
          Level.WARNING,
          "the configuration keeps credentials in memory: they are lost when another server takes"
              + " over");
    } else {
      vault(new SharedVault(database, NO_NODE));
    }
  }

  /// An essential thread of the active server has failed. If it was fenced, the server continues as a
  /// standby one.
  private void failed(PostgresNode activeNode, String thread, Throwable cause) {
    if (cause.getCause() instanceof FencedException fenced) {
      changes.add(new Deactivate(activeNode, String.valueOf(fenced.getMessage()), false));
    } else {
      extensions.fatal().failed(thread, cause);
    }
  }

  /// Stops the work of the active server: at once if another one may continue it soon.
  private void deactivate(Deactivate deactivation) {
    var running = server;
    var activeNode = deactivation.node();
    if (!activeNode.equals(node) || running == null) {
      return;
    }
    LOG.log(
        Level.WARNING,
        "node {0} is not active any more: {1}",
        activeNode.id(),
        deactivation.reason());
    closeServer(
        running, deactivation.orderly() ? this::endTasks : tasks -> tasks.drain(Duration.ZERO));
    resign(activeNode, Duration.ZERO);
    follow();
    LOG.log(
        Level.INFO, "the work of node {0} has ended; it is a standby node now", activeNode.id());
  }

  /// Ends the tasks in order. If another server can resume them, new messages wait for it, too.
  private void endTasks(Tasks tasks) {
    var joined = membership;
    if (joined != null && joined.hasSuccessor()) {
      tasks.handOver(Server.DRAIN_TASKS);
    } else {
      tasks.drain(Server.DRAIN_TASKS);
    }
  }

  private void closeServer(Server running, Consumer<Tasks> endTasks) {
    server = null;
    node = null;
    try {
      running.close(endTasks);
    } catch (RuntimeException failed) { // The root of what this thread does for a role.
      LOG.log(Level.WARNING, "the active server did not stop cleanly", failed);
    }
  }

  private void resign(PostgresNode activeNode, Duration pause) {
    databases.remove(activeNode);
    var joined = membership;
    if (joined != null) {
      joined.resign(activeNode, pause);
    }
  }

  /// Stops within ten seconds, in order: the tasks of the active server are handed back, and
  /// another server can take over at once.
  @Override
  public void close() {
    if (stopping) {
      return;
    }
    stopping = true;
    var joined = membership;
    if (joined != null) {
      joined.stopTakingOver();
    }
    changes.add(new End());
    if (roles.isAlive()) {
      join(roles);
    }
    var running = server;
    if (running != null) {
      closeServer(running, this::endTasks);
    }
    stopFollowing();
    if (joined != null) {
      joined.close();
    }
    listener.drain(DRAIN_REQUESTS);
    listener.close();
    folder.close();
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// The listener of the active server: that of this node, which also exists before and after it.
  private final class SharedListener implements ServerListener {

    private final HttpListenerDependencies serving;
    private final List<Route> routes;
    private final List<ErrorFormat> errorFormats;

    SharedListener(
        HttpListenerDependencies serving, List<Route> routes, List<ErrorFormat> errorFormats) {
      this.serving = serving;
      this.routes =
          Stream.concat(routes.stream(), clusterRoutes.active(serving.metrics()).stream()).toList();
      this.errorFormats = errorFormats;
      clusterRoutes.addTo(serving.metrics());
    }

    @Override
    public void start() {
      listener.serve(serving, routes, errorFormats, forwarding);
    }

    @Override
    public int port() {
      return listener.port();
    }

    @Override
    public void drain(Duration patience) {
      close();
      try {
        serving.streams().awaitCount(0, patience);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      listener.forward(standby, forwarding, clusterRoutes.standby(standby.metrics()));
    }
  }
}
