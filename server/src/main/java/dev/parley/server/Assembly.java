package dev.parley.server;

import dev.parley.a2a.remote.A2aAgent;
import dev.parley.agent.Memory;
import dev.parley.cli.CliAgent;
import dev.parley.door.JvmMetrics;
import dev.parley.door.Metric;
import dev.parley.door.Metrics;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.SqliteLog;
import dev.parley.log.Tuning;
import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.mcp.Pace;
import dev.parley.net.AddressPolicy;
import dev.parley.proxy.Remote;
import dev.parley.task.History;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.FileAccess;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.process.Children;
import dev.parley.tool.process.ProcessCheck;
import dev.parley.vault.Bearers;
import dev.parley.vault.Credential;
import dev.parley.vault.SignIns;
import dev.parley.vault.Vault;
import dev.parley.view.Views;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Creates the components that a configuration describes: the log, the views, the agents and their
/// tasks.
final class Assembly {

  private final Config config;
  private final Server.Sources sources;
  private final Extensions extensions;
  private final Children children;
  private final PlatformThreads threads = new PlatformThreads();

  Assembly(Config config, Server.Sources sources, Extensions extensions) {
    this.config = config;
    this.sources = sources;
    this.extensions = extensions;
    var folder = config.data().resolve("children");
    Supplier<String> ids = () -> sources.ids().get().toString();
    this.children =
        config.approvals().ownProcess()
            ? new Children(folder, ids)
            : Children.adopting(folder, ids);
  }

  /// Opens everything. If something fails, closes what was opened.
  Server.Parts open() {
    try (var opened = new CloseStack()) {
      var log =
          SqliteLog.open(
              new SqliteLog.Parts(
                  config.data(), sources.clock(), new SecureRandom(), Tuning.DEFAULT),
              extensions.fatal());
      opened.add(log::close);
      // This server has locked the folder and has not started any program yet.
      children.endLeftovers();
      var parts = on(log);
      opened.release();
      return parts;
    }
  }

  /// Creates the components that need a log. If this fails, the log stays open and everything else
  /// is closed.
  Server.Parts on(EventLog store) {
    try (var opened = new CloseStack()) {
      var metrics = new Metrics();
      JvmMetrics.addTo(metrics, version());
      metrics.gauge(Metric.THREADS_STUCK, threads::stuck);
      metrics.gauge(Metric.TOOL_CALLS_WAITING, threads::waiting);
      if (store instanceof SqliteLog ours) {
        ours.metrics().whenCommitted(metrics.histogram(Metric.COMMIT_SECONDS)::record);
      }
      var log = new MeteredLog(store, metrics, List.of(new EventMetrics(metrics), new TaskLog()));
      FatalHandler fatal = store instanceof SqliteLog ours ? ours::fail : extensions.fatal();
      var views = new Views(config.data().resolve("views.db"), log, fatal);
      opened.add(views::close);
      var signIns = new SignIns(vault(), registered(), addresses());
      opened.add(signIns::close);
      var remote = new Remote();
      opened.add(remote::close);
      var models = new Models(config.models(), sources, metrics);
      opened.add(models::close);
      opened.add(children::close);
      var mcp =
          new McpServers(
              config.mcpServers(),
              new McpServers.Parts(
                  children,
                  new OAuthTokens(signIns.bearers()),
                  Pace.USUAL,
                  version(),
                  new AddressPolicy(config.outside().privateHosts())));
      opened.add(mcp::close);
      mcp.start();
      var tasks = tasks(log, views, models, mcp, signIns, remote);
      opened.release();
      return new Server.Parts(
          log,
          views,
          tasks,
          metrics,
          signIns,
          new ProcessCheck(children::roots, !config.approvals().ownProcess()),
          () -> {
            mcp.close();
            children.close();
            models.close();
            remote.close();
          });
    }
  }

  /// Returns the client registrations for MCP servers in the configuration.
  private Map<String, Credential.Client> registered() {
    var clients = new HashMap<String, Credential.Client>();
    for (var server : config.mcpServers()) {
      if (server.endpoint() instanceof McpServer.Http http && http.client() != null) {
        var client = http.client();
        // Every authorization server accepts a secret in this form (RFC 6749, 2.3.1).
        var basic = client.secret() != null;
        clients.put(server.name(), new Credential.Client(client.id(), client.secret(), basic));
      }
    }
    return clients;
  }

  /// Allows sign-ins at public servers, at hosts that the operator configured, and at the
  /// configured MCP servers.
  private AddressPolicy addresses() {
    var policy = new AddressPolicy(config.outside().privateHosts());
    for (var server : config.mcpServers()) {
      if (server.endpoint() instanceof McpServer.Http http) {
        policy = policy.allowing(http.url());
      }
    }
    return policy;
  }

  private Vault vault() {
    return config.vault().inMemory()
        ? Vault.inMemory(sources.vault())
        : Vault.in(config.data(), config.vault().key(), sources.vault());
  }

  private Tasks tasks(
      EventLog log, Views views, Models models, McpServers mcp, SignIns signIns, Remote remote) {
    var history = History.of(views);
    var memory = new Memory(log, history, config.limits().loop());
    var programs = new CliAgent.Parts(children, log, memory, config.limits().inputTimeout());
    var crew =
        new Crew(
            config,
            extensions.agents(),
            new Crew.Parts(
                models,
                tools(signIns.bearers()),
                mcp,
                memory,
                signIns,
                programs,
                remote,
                new A2aAgent.Parts(
                    remote,
                    log,
                    memory,
                    config.limits().inputTimeout(),
                    signIns,
                    signIns.bearers()::key,
                    sources.clock()),
                threads));
    var setup =
        new Tasks.Setup(
            crew.agents(),
            new Workspaces(config.workspaces(), config.data(), config.workspacesListed()),
            config.limits(),
            extensions.failPoint());
    return new Tasks(log, history, setup, taskSources());
  }

  private static String version() {
    var version = Assembly.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }

  private List<Tool> tools(Bearers bearers) {
    var builtIn =
        BuiltInTools.all(
            new BuiltInTools.Parts(
                sources.clock(),
                children,
                config.outside().environment(),
                config.outside().privateHosts(),
                bearers::key,
                new FileAccess(config.workspaces(), config.data())));
    return Stream.concat(builtIn.stream(), extensions.tools().stream()).toList();
  }

  private dev.parley.task.Sources taskSources() {
    return new dev.parley.task.Sources(sources.clock(), () -> sources.ids().get().toString());
  }
}
