package dev.parley.app;

import dev.parley.app.CampaignHistory.Acknowledgement;
import dev.parley.app.CampaignTraffic.TrafficDependencies;
import dev.parley.app.ClusterComparison.ComparisonDependencies;
import dev.parley.app.PlannedFault.FaultKind;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Three real servers on a real PostgreSQL with a synchronous standby: injects faults while clients
/// use the servers, and checks everything that the clients saw.
///
/// The faults are chosen by a seed before the campaign begins. What the processes are doing when a
/// fault happens is not, so a seed does not repeat a run exactly.
final class ClusterCampaign implements AutoCloseable {

  private static final int SERVERS = 3;

  /// Nothing takes so long, also on a slow machine.
  private static final Duration NEVER = Duration.ofMinutes(2);

  /// A takeover after a server was lost happens within this time.
  private static final Duration TAKEOVER = Duration.ofMillis(6_500);

  private static final Duration POLL = Duration.ofMillis(20);
  private static final Duration REQUEST_MAX = Duration.ofSeconds(2);
  private static final int FAULTS_PER_HISTORY = 20;
  private static final int CANCELS = 10;

  /// `%s` is the folder of the tools.
  private static final String CONFIGURATION =
      """
      models: {default: {provider: offline}}
      agents:
        - {id: worker, tools: [shell, ask_user, think], permission: allow}
        - {id: careful, tools: [shell, ask_user]}
      workspaces: ["%s"]
      heartbeat: 1s
      """;

  private final Path ledger;
  private final Random random;
  private final List<PlannedFault> faults;
  private final PostgresPair postgres;
  private final List<CampaignServer> servers = new ArrayList<>();
  private final CampaignReport report;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();
  private final CountDownLatch never = new CountDownLatch(1);
  private final long begun = System.nanoTime();
  private CampaignHistory history = new CampaignHistory();
  private int probes;

  /// Since when the database has had no active server, or a new one; 0 if it has the old one.
  private long vacantSince;

  /// Starts the databases and the servers in `folder`.
  ClusterCampaign(Path folder, long seed, int count) throws IOException, InterruptedException {
    random = new Random(seed);
    postgres = PostgresPair.start(folder);
    faults = PlannedFault.choose(random, count, postgres.replicated(), count > FAULTS_PER_HISTORY);
    report =
        new CampaignReport(
            seed,
            postgres.version()
                + (postgres.replicated() ? " with a standby" : " without a standby"));
    ledger = folder.resolve("ledger");
    Files.createFile(ledger);
    var workspace = Files.createDirectory(folder.resolve("workspace"));
    var configuration =
        Files.writeString(
            folder.resolve("parley.yaml"), CONFIGURATION.replace("%s", workspace.toString()));
    for (var i = 0; i < SERVERS; i++) {
      servers.add(
          new CampaignServer(folder.resolve("server" + i), configuration, postgres.ports()));
    }
    servers.forEach(CampaignServer::start);
    awaitReady();
  }

  /// What happened so far.
  CampaignReport report() {
    return report;
  }

  /// Injects all faults, and checks the histories.
  void run() throws IOException, InterruptedException {
    for (var done = 0; done < faults.size(); done += FAULTS_PER_HISTORY) {
      history = new CampaignHistory();
      var some = faults.subList(done, Math.min(faults.size(), done + FAULTS_PER_HISTORY));
      try (var traffic = traffic("h" + done)) {
        createProbe();
        traffic.start();
        for (var fault : some) {
          inject(fault, traffic);
        }
        settle(traffic);
      }
      say("  all servers and readers agree");
      Files.readAllLines(ledger).forEach(history::effect);
      report.checked(history, CampaignChecker.check(history));
      say("  %d faults, %d violations".formatted(report.count(), report.violations().size()));
    }
  }

  private CampaignTraffic traffic(String name) {
    var urls = servers.stream().map(CampaignServer::url).toList();
    return new CampaignTraffic(
        new TrafficDependencies(urls, history, ledger, http, name), new Random(random.nextLong()));
  }

  private void inject(PlannedFault fault, CampaignTraffic traffic) throws InterruptedException {
    say("fault %d of %d: %s".formatted(report.count() + 1, faults.size(), fault));
    // Not always at the same moment of the work.
    pause(Duration.ofMillis(fault.choice() * 5L));
    report.fault(fault.kind());
    switch (fault.kind()) {
      case KILL_ACTIVE -> killActive(fault);
      case KILL_STANDBY -> standby(fault).kill();
      case KILL_ALL -> {
        for (var server : servers) {
          server.kill();
        }
      }
      case SUSPEND_ACTIVE -> suspend(fault, active());
      case SUSPEND_STANDBY -> suspend(fault, standby(fault));
      case STOP_ACTIVE -> stopActive(fault);
      case STOP_STANDBY -> {
        // One that has just been started does not handle the signal yet.
        awaitReady();
        stop(standby(fault));
      }
      case DRAIN_ACTIVE -> {
        var active = active();
        var begun = System.nanoTime();
        if (drain(active)) {
          takeover(fault.kind(), begun, server -> server != active);
          stop(active);
        }
      }
      case KILL_DURING_DRAIN -> {
        var active = active();
        var begun = System.nanoTime();
        drain(active);
        pause(fault.delay().dividedBy(20));
        active.kill();
        takeover(fault.kind(), begun, server -> server != active);
      }
      case DRAIN_DURING_TAKEOVER -> drainDuringTakeover(fault);
      case CUT_DATABASE_OF_ACTIVE -> cutDatabase(fault, active());
      case STALL_DATABASE_OF_ACTIVE -> stallDatabase(fault, active());
      case STALL_DATABASE_OF_STANDBY -> stallDatabase(fault, standby(fault));
      case STALL_SERVERS -> {
        servers.forEach(server -> server.network().stall());
        pause(fault.length());
        servers.forEach(server -> heal(server.network(), fault.deliver()));
      }
      case CUT_SERVERS -> {
        servers.forEach(server -> server.network().cut());
        pause(fault.length());
      }
      case RESTART_DATABASE -> postgres.restartPrimary();
      case RESTART_DATABASE_DURING_TAKEOVER -> {
        var active = active();
        var begun = System.nanoTime();
        active.kill();
        pause(fault.delay());
        postgres.restartPrimary();
        takeover(fault.kind(), begun, server -> server != active);
      }
      case LOSE_DATABASE_STANDBY -> {
        postgres.stopStandby();
        pause(fault.length());
        postgres.startStandby();
      }
      case PROMOTE_DATABASE -> promote();
      case PROMOTE_WITHOUT_CANCELED_COMMITS -> {
        var active = active();
        postgres.stopStandby();
        for (var i = 0; i < CANCELS; i++) {
          pause(fault.length().dividedBy(CANCELS));
          postgres.cancelCommits();
        }
        // What it has published must not exist in its memory only.
        active.kill();
        promote();
      }
      case PROMOTE_LOST_STANDBY -> {
        postgres.stopStandby();
        pause(fault.length());
        postgres.restartPrimary();
        pause(fault.delay());
        promote();
      }
    }
    servers.forEach(CampaignServer::deliver);
    servers.forEach(CampaignServer::start);
    if (!fault.hasty() && !traffic.awaitAcknowledgements(2, NEVER)) {
      report.violated("no message is accepted after " + fault);
      dump();
    }
  }

  private void killActive(PlannedFault fault) throws InterruptedException {
    var active = active();
    var begun = System.nanoTime();
    active.kill();
    takeover(fault.kind(), begun, server -> server != active);
  }

  private void suspend(PlannedFault fault, CampaignServer server) throws InterruptedException {
    var begun = System.nanoTime();
    server.suspend();
    if (fault.kind() == FaultKind.SUSPEND_ACTIVE && fault.length().compareTo(TAKEOVER) > 0) {
      takeover(fault.kind(), begun, other -> other != server);
    }
    pause(fault.length().minusNanos(System.nanoTime() - begun));
    server.resume();
  }

  private void stopActive(PlannedFault fault) throws InterruptedException {
    var active = active();
    var begun = System.nanoTime();
    var stopping = Thread.ofVirtual().start(() -> stop(active));
    takeover(fault.kind(), begun, server -> server != active);
    stopping.join();
  }

  private void stop(CampaignServer server) {
    try {
      var code = server.terminate();
      if (code != 0) {
        report.violated("a server stopped with " + code + ": " + server.lines());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void drainDuringTakeover(PlannedFault fault) throws InterruptedException {
    var drained = standby(fault);
    var node = node(drained);
    var active = active();
    var begun = System.nanoTime();
    active.kill();
    pause(fault.delay());
    active.start();
    var accepted = drain(drained, node);
    takeover(fault.kind(), begun, server -> !accepted || server != drained);
    stop(drained);
  }

  private void cutDatabase(PlannedFault fault, CampaignServer server) throws InterruptedException {
    server.databaseNetworks().forEach(FaultyProxy::cut);
    pause(fault.length());
  }

  private void stallDatabase(PlannedFault fault, CampaignServer server)
      throws InterruptedException {
    server.databaseNetworks().forEach(FaultyProxy::stall);
    pause(fault.length());
    server.databaseNetworks().forEach(network -> heal(network, fault.deliver()));
  }

  private static void heal(FaultyProxy network, boolean deliver) {
    if (deliver) {
      network.deliver();
    } else {
      network.lose();
    }
  }

  private void promote() {
    postgres.promote();
    postgres.rebuildStandby();
  }

  /// Waits until a server that passes is active and has accepted a message.
  private void takeover(FaultKind kind, long begun, Predicate<CampaignServer> other)
      throws InterruptedException {
    vacantSince = 0;
    var next = awaitActive(other);
    if (next != null && probe(next.url())) {
      var now = System.nanoTime();
      var millis = TimeUnit.NANOSECONDS.toMillis(now - begun);
      var vacant = TimeUnit.NANOSECONDS.toMillis(now - vacantSince);
      say("  takeover after %d ms, %d ms without an active server".formatted(millis, vacant));
      report.takeover(kind, millis, vacant);
    } else {
      report.violated("no server takes over after " + kind.text());
      dump();
    }
  }

  private @Nullable CampaignServer awaitActive(Predicate<CampaignServer> other)
      throws InterruptedException {
    var deadline = System.nanoTime() + NEVER.toNanos();
    while (System.nanoTime() < deadline) {
      var active = activeAddress();
      for (var server : servers) {
        if (!other.test(server)) {
          continue;
        }
        if (vacantSince == 0 && (active.isEmpty() || active.equals(server.nodeAddress()))) {
          vacantSince = System.nanoTime();
        }
        if (server.nodeAddress().equals(active) && server.readiness(http).equals("ready")) {
          return server;
        }
      }
      pause(POLL);
    }
    return null;
  }

  /// The address of the active node, as the database says.
  private String activeAddress() {
    try (var connection = postgres.connect();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery("SELECT address FROM parley.nodes WHERE state = 'active'")) {
      return rows.next() ? rows.getString(1) : "";
    } catch (SQLException unreachable) {
      return "";
    }
  }

  private CampaignServer active() throws InterruptedException {
    var active = awaitActive(_ -> true);
    if (active == null) {
      dump();
      throw new IllegalStateException("no server is active");
    }
    return active;
  }

  private CampaignServer standby(PlannedFault fault) throws InterruptedException {
    var active = active();
    var others = servers.stream().filter(server -> server != active).toList();
    return others.get(fault.choice() % others.size());
  }

  private void createProbe() throws InterruptedException {
    var context = "probe" + probes;
    var body = Json.object().put("contextId", context).toString();
    if (post(servers.getFirst().url(), "/api/contexts", body, context).isEmpty()) {
      throw new IllegalStateException("no context can be created");
    }
    history.created(context);
  }

  /// Sends a message to this server until it is accepted.
  private boolean probe(URI server) throws InterruptedException {
    var context = history.contexts().stream().filter(id -> id.startsWith("probe")).findFirst();
    var body = Json.object().put("content", "say hello").put("agentId", "worker").toString();
    var reply =
        post(
            server,
            "/api/contexts/" + context.orElseThrow() + "/messages",
            body,
            "probe" + ++probes);
    if (reply.isEmpty() || reply.get().statusCode() != 202) {
      return false;
    }
    var accepted = Json.mapper().readTree(reply.get().body());
    history.acknowledged(
        new Acknowledgement(
            "message",
            context.orElseThrow(),
            accepted.get("messageId").asString(),
            accepted.get("seq").asLong()));
    return true;
  }

  private boolean drain(CampaignServer server) throws InterruptedException {
    return drain(server, node(server));
  }

  /// False if no other server can take over at the moment.
  private boolean drain(CampaignServer server, long node) throws InterruptedException {
    var others = servers.stream().filter(other -> other != server && other.running()).toList();
    var reply =
        post(others.getFirst().url(), "/api/cluster/nodes/" + node + "/drain", "", "drain" + node);
    var status = reply.map(HttpResponse::statusCode).orElse(0);
    if (status != 202 && status != 404 && status != 409) {
      report.violated("drain: " + reply);
    }
    return status == 202;
  }

  /// The number of the node that a server is at the moment, as the database says.
  private long node(CampaignServer server) throws InterruptedException {
    awaitReady();
    try (var connection = postgres.connect();
        var select =
            connection.prepareStatement("SELECT max(id) FROM parley.nodes WHERE address = ?")) {
      select.setString(1, server.nodeAddress());
      try (var rows = select.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    } catch (SQLException unreachable) {
      throw new IllegalStateException(unreachable);
    }
  }

  /// Sends a request until it is answered by an active server.
  private Optional<HttpResponse<String>> post(URI server, String path, String body, String key)
      throws InterruptedException {
    var deadline = System.nanoTime() + NEVER.toNanos();
    while (System.nanoTime() < deadline) {
      var request =
          HttpRequest.newBuilder(server.resolve(path))
              .timeout(REQUEST_MAX)
              .header("Content-Type", "application/json")
              .header("Idempotency-Key", key)
              .POST(body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
      try {
        var reply = http.send(request.build(), BodyHandlers.ofString());
        if (reply.statusCode() != 503) {
          return Optional.of(reply);
        }
      } catch (IOException lost) {
        // It is sent again.
      }
      pause(POLL);
    }
    return Optional.empty();
  }

  /// Waits until all servers are ready, and starts those again that could not start.
  private void awaitReady() throws InterruptedException {
    var deadline = System.nanoTime() + NEVER.toNanos();
    var waiting = new ArrayList<>(servers);
    while (!waiting.isEmpty()) {
      if (System.nanoTime() > deadline) {
        dump();
        throw new IllegalStateException("a server does not get ready: " + waiting);
      }
      for (var server : List.copyOf(waiting)) {
        server.start();
        if (!server.readiness(http).isEmpty()) {
          waiting.remove(server);
        }
      }
      pause(POLL);
    }
  }

  /// After the faults, everything continues: all tasks end, every context accepts a new message, all
  /// servers and all readers agree.
  private void settle(CampaignTraffic traffic) throws InterruptedException {
    say("settle");
    awaitReady();
    say("  all servers are ready");
    var stuck = traffic.finish(NEVER);
    if (!stuck.isEmpty()) {
      report.violated("tasks do not end: " + stuck);
      dump();
    }
    say("  all tasks have ended");
    var urls = servers.stream().map(CampaignServer::url).toList();
    var comparison =
        new ClusterComparison(new ComparisonDependencies(urls, http, history, traffic.readers()));
    for (var context : history.contexts()) {
      comparison.sendLast(context);
    }
    say("  every context accepts messages");
    for (var context : history.contexts()) {
      comparison.compare(context);
    }
  }

  /// The duration of a fault.
  private void pause(Duration duration) throws InterruptedException {
    var _ = never.await(Math.max(0, duration.toMillis()), TimeUnit.MILLISECONDS);
  }

  private void say(String line) {
    var seconds = (System.nanoTime() - begun) / 1e9;
    System.out.println("[campaign] %7.1f s  %s".formatted(seconds, line));
  }

  /// Prints what the servers have printed.
  private void dump() {
    for (var server : servers) {
      say(server.url() + (server.running() ? " runs" : " does not run"));
      server.lines().forEach(line -> say("  " + line));
    }
  }

  @Override
  public void close() {
    servers.forEach(CampaignServer::close);
    postgres.close();
    http.shutdownNow();
  }
}
