package dev.parley.server;

import dev.parley.agent.ConversationMemory;
import dev.parley.auth.Credential;
import dev.parley.auth.CredentialProvider;
import dev.parley.auth.SignIns;
import dev.parley.auth.TokenClient;
import dev.parley.auth.Vault;
import dev.parley.control.Budgets;
import dev.parley.control.ControlDatabase;
import dev.parley.control.ControlTable;
import dev.parley.control.TaskControls;
import dev.parley.external.a2a.A2aAgent;
import dev.parley.external.cli.CliAgent;
import dev.parley.http.JvmMetrics;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.log.BlockLog;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.LogTuning;
import dev.parley.log.SqliteLog;
import dev.parley.mcp.McpDependencies;
import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.projection.ContextFeed.FeedStart;
import dev.parley.projection.ViewStorage;
import dev.parley.projection.Views;
import dev.parley.projection.ViewsRuntime;
import dev.parley.task.ContextHistory;
import dev.parley.task.TaskSettings;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.FileAccess;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.process.ClientProcessCheck;
import dev.parley.tool.process.ManagedProcesses;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Creates the components that a configuration describes: the log, the views, the agents and their
/// tasks.
final class ServerFactory {

  private final Config config;
  private final Server.ServerSources serverSources;
  private final Extensions extensions;
  private final ManagedProcesses managedProcesses;
  private final PlatformThreads threads;

  ServerFactory(Config config, Server.ServerSources serverSources, Extensions extensions) {
    this.config = config;
    this.serverSources = serverSources;
    this.threads = new PlatformThreads(serverSources.time(), serverSources.threads());
    this.extensions = extensions;
    var folder = childrenOf(config);
    var sandbox = Isolation.open(config);
    Supplier<String> ids = () -> serverSources.ids().get().toString();
    this.managedProcesses =
        config.approvals().ownProcess()
            ? new ManagedProcesses(folder, ids, sandbox)
            : ManagedProcesses.adopting(folder, ids, sandbox);
  }

  private static Path childrenOf(Config config) {
    return config.data().resolve("children");
  }

  /// Ends the programs that an earlier process with this data folder has left.
  static void endLeftovers(Config config, Server.ServerSources sources) {
    try (var children =
        new ManagedProcesses(childrenOf(config), () -> sources.ids().get().toString())) {
      children.endLeftovers();
    }
  }

  /// Opens everything, with the log in the data folder. If something fails, closes what was opened.
  Server.ServerDependencies create() {
    return create(
        () ->
            SqliteLog.open(
                new SqliteLog.SqliteLogDependencies(
                    config.data(),
                    serverSources.time(),
                    serverSources.threads(),
                    new SecureRandom(),
                    LogTuning.DEFAULT,
                    config.encryption().forLog()),
                extensions.fatal()),
        this::vaultInFolder,
        viewsInFolder(),
        controlsInFolder());
  }

  private ControlDatabase controlsInFolder() {
    return ControlDatabase.file(config.data().resolve("control.db"));
  }

  private Vault vaultInFolder() {
    return Vault.in(config.data(), config.vault().key(), serverSources.vault());
  }

  /// The file of the views, and whether cursors of their feed stay valid.
  record ViewsFile(Path path, FeedStart feedStart) {

    ViewStorage storage(Config config) {
      return config.encryption().isOn()
          ? ViewStorage.inMemoryInsteadOf(path)
          : ViewStorage.in(path);
    }
  }

  private ViewsFile viewsInFolder() {
    return new ViewsFile(config.data().resolve("views.db"), FeedStart.CONTINUE);
  }

  /// Does the same with another log, other views and controls, and another vault, unless the
  /// configuration keeps it in memory.
  /// The data folder is locked when the log is open.
  Server.ServerDependencies create(
      Supplier<BlockLog> openLog,
      Supplier<Vault> openVault,
      ViewsFile viewsFile,
      ControlDatabase controls) {
    try (var opened = new CloseStack()) {
      var log = openLog.get();
      opened.add(log::close);
      // No other server uses the folder, and this one has not started any program yet.
      managedProcesses.endLeftovers();
      var serverDependencies = createOn(log, openVault, viewsFile, controls);
      opened.release();
      return serverDependencies;
    }
  }

  /// Creates the components that need a log. If this fails, the log stays open and everything else
  /// is closed.
  Server.ServerDependencies createOn(EventLog store) {
    return createOn(store, this::vaultInFolder, viewsInFolder(), controlsInFolder());
  }

  private Server.ServerDependencies createOn(
      EventLog store,
      Supplier<Vault> openVault,
      ViewsFile viewsFile,
      ControlDatabase controlDatabase) {
    try (var opened = new CloseStack()) {
      var storage = new ControlTable(controlDatabase, serverSources.threads());
      opened.add(storage::close);
      var metrics = new Metrics();
      JvmMetrics.addTo(metrics, ParleyVersion.text());
      metrics.gauge(Metric.THREADS_STUCK, threads::stuck);
      metrics.gauge(Metric.TOOL_CALLS_WAITING, threads::waiting);
      if (store instanceof BlockLog ours) {
        ours.metrics().onCommit(metrics.histogram(Metric.COMMIT_SECONDS)::record);
      }
      var answers = new AnswerAudit();
      var log =
          new MeteredLog(
              store,
              metrics,
              serverSources.time(),
              List.of(
                  new EventMetrics(metrics, serverSources.time()),
                  new TaskFailureLogger(),
                  answers));
      var budgets = Budgets.of(config.budgets(), log, storage, serverSources.time());
      opened.add(budgets::close);
      var controls = TaskControls.in(storage, budgets);
      FatalHandler fatal = store instanceof BlockLog ours ? ours::fail : extensions.fatal();
      var views =
          new Views(
              viewsFile.storage(config),
              log,
              new ViewsRuntime(serverSources.time(), serverSources.threads(), fatal),
              viewsFile.feedStart());
      opened.add(views::close);
      var http = new OutgoingHttpClient(serverSources.time(), serverSources.threads());
      opened.add(http::close);
      var signIns =
          new SignIns(
              vault(openVault),
              registered(),
              new TokenClient(http, addresses()),
              serverSources.time());
      var models = new Models(config.models(), serverSources, http, metrics);
      opened.add(managedProcesses::close);
      var mcp =
          new McpServers(
              config.mcpServers(),
              new McpDependencies(
                  managedProcesses,
                  new OAuthTokens(signIns.credentials()),
                  McpTimeouts.DEFAULT,
                  ParleyVersion.text(),
                  new AddressPolicy(config.toolEnvironment().privateHosts()),
                  http,
                  serverSources.time(),
                  serverSources.threads(),
                  config.containment().mcpServers()));
      opened.add(mcp::close);
      mcp.start();
      var tasks = tasks(log, views, models, mcp, signIns, http, controls);
      opened.release();
      return new Server.ServerDependencies(
          log,
          views,
          tasks,
          metrics,
          signIns,
          ClientProcessCheck.of(managedProcesses, !config.approvals().ownProcess()),
          controls,
          answers,
          () -> {
            mcp.close();
            managedProcesses.close();
            http.close();
            budgets.close();
            storage.close();
          });
    }
  }

  /// Returns the client registrations for MCP servers in the configuration.
  private Map<String, Credential.RegisteredClient> registered() {
    var clients = new HashMap<String, Credential.RegisteredClient>();
    for (var server : config.mcpServers()) {
      if (server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint
          && httpEndpoint.client() != null) {
        var client = httpEndpoint.client();
        // Every authorization server accepts a secret in this form (RFC 6749, 2.3.1).
        var basic = client.secret() != null;
        clients.put(
            server.name(), new Credential.RegisteredClient(client.id(), client.secret(), basic));
      }
    }
    return clients;
  }

  /// Allows sign-ins at public servers, at hosts that the operator configured, and at the
  /// configured MCP servers.
  private AddressPolicy addresses() {
    var policy = new AddressPolicy(config.toolEnvironment().privateHosts());
    for (var server : config.mcpServers()) {
      if (server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint) {
        policy = policy.allowing(httpEndpoint.url());
      }
    }
    return policy;
  }

  private Vault vault(Supplier<Vault> openVault) {
    return config.vault().inMemory() ? Vault.inMemory(serverSources.vault()) : openVault.get();
  }

  private Tasks tasks(
      EventLog log,
      Views views,
      Models models,
      McpServers mcp,
      SignIns signIns,
      OutgoingHttpClient http,
      TaskControls controls) {
    var contextHistory = ContextHistory.of(views);
    var conversationMemory = new ConversationMemory(log, contextHistory, config.limits().loop());
    var programs =
        new CliAgent.CliAgentDependencies(
            managedProcesses, log, conversationMemory, config.limits().inputTimeout());
    var agentFactory =
        new AgentFactory(
            config,
            extensions.agents(),
            new AgentFactory.AgentFactoryDependencies(
                models,
                tools(signIns.credentials(), http),
                mcp,
                conversationMemory,
                signIns,
                programs,
                http,
                serverSources.time(),
                new A2aAgent.A2aAgentDependencies(
                    http,
                    log,
                    conversationMemory,
                    config.limits().inputTimeout(),
                    signIns,
                    signIns.credentials()::key,
                    serverSources.time(),
                    serverSources.threads()),
                threads));
    var taskSettings =
        new TaskSettings(
            agentFactory.agents(),
            new Workspaces(config.workspaces(), config.data(), config.workspacesListed()),
            config.limits(),
            extensions.failPoint(),
            controls);
    return new Tasks(log, contextHistory, taskSettings, taskSources());
  }

  private List<Tool> tools(CredentialProvider credentialProvider, OutgoingHttpClient http) {
    var builtIn =
        BuiltInTools.all(
            new BuiltInTools.BuiltInToolsDependencies(
                serverSources.time(),
                serverSources.threads(),
                http,
                managedProcesses,
                config.toolEnvironment().environment(),
                config.toolEnvironment().privateHosts(),
                credentialProvider::key,
                new FileAccess(config.workspaces(), config.data())));
    return Stream.concat(builtIn.stream(), extensions.tools().stream()).toList();
  }

  private dev.parley.task.TaskSources taskSources() {
    return new dev.parley.task.TaskSources(
        serverSources.time(), serverSources.threads(), () -> serverSources.ids().get().toString());
  }

  /// Provides MCP clients with the tokens of users who signed in.
  static final class OAuthTokens implements McpTokenProvider {

    private final CredentialProvider credentialProvider;

    OAuthTokens(CredentialProvider credentialProvider) {
      this.credentialProvider = credentialProvider;
    }

    @Override
    public Optional<String> bearer(String owner, String provider) {
      return credentialProvider.token(owner, provider);
    }

    @Override
    public void reject(String owner, String provider) {
      credentialProvider.reject(owner, provider);
    }
  }
}
