package dev.parley.server;

import dev.parley.agent.ConversationMemory;
import dev.parley.auth.Credential;
import dev.parley.auth.CredentialProvider;
import dev.parley.auth.SignIns;
import dev.parley.auth.Vault;
import dev.parley.external.a2a.A2aAgent;
import dev.parley.external.cli.CliAgent;
import dev.parley.external.proxy.AgentHttpClient;
import dev.parley.http.JvmMetrics;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.LogTuning;
import dev.parley.log.SqliteLog;
import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.mcp.McpTimeouts;
import dev.parley.net.AddressPolicy;
import dev.parley.projection.Views;
import dev.parley.task.ContextHistory;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.FileAccess;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.process.ClientProcessCheck;
import dev.parley.tool.process.ManagedProcesses;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Creates the components that a configuration describes: the log, the views, the agents and their
/// tasks.
final class ServerFactory {

  private final Config config;
  private final Server.ServerSources serverSources;
  private final Extensions extensions;
  private final ManagedProcesses managedProcesses;
  private final PlatformThreads threads = new PlatformThreads();

  ServerFactory(Config config, Server.ServerSources serverSources, Extensions extensions) {
    this.config = config;
    this.serverSources = serverSources;
    this.extensions = extensions;
    var folder = config.data().resolve("children");
    Supplier<String> ids = () -> serverSources.ids().get().toString();
    this.managedProcesses =
        config.approvals().ownProcess()
            ? new ManagedProcesses(folder, ids)
            : ManagedProcesses.adopting(folder, ids);
  }

  /// Opens everything. If something fails, closes what was opened.
  Server.ServerDependencies create() {
    try (var opened = new CloseStack()) {
      var log =
          SqliteLog.open(
              new SqliteLog.SqliteLogDependencies(
                  config.data(), serverSources.clock(), new SecureRandom(), LogTuning.DEFAULT),
              extensions.fatal());
      opened.add(log::close);
      // This server has locked the folder and has not started any program yet.
      managedProcesses.endLeftovers();
      var serverDependencies = createOn(log);
      opened.release();
      return serverDependencies;
    }
  }

  /// Creates the components that need a log. If this fails, the log stays open and everything else
  /// is closed.
  Server.ServerDependencies createOn(EventLog store) {
    try (var opened = new CloseStack()) {
      var metrics = new Metrics();
      JvmMetrics.addTo(metrics, ParleyVersion.text());
      metrics.gauge(Metric.THREADS_STUCK, threads::stuck);
      metrics.gauge(Metric.TOOL_CALLS_WAITING, threads::waiting);
      if (store instanceof SqliteLog ours) {
        ours.metrics().onCommit(metrics.histogram(Metric.COMMIT_SECONDS)::record);
      }
      var log =
          new MeteredLog(
              store, metrics, List.of(new EventMetrics(metrics), new TaskFailureLogger()));
      FatalHandler fatal = store instanceof SqliteLog ours ? ours::fail : extensions.fatal();
      var views = new Views(config.data().resolve("views.db"), log, fatal);
      opened.add(views::close);
      var signIns = new SignIns(vault(), registered(), addresses());
      opened.add(signIns::close);
      var agentHttpClient = new AgentHttpClient();
      opened.add(agentHttpClient::close);
      var models = new Models(config.models(), serverSources, metrics);
      opened.add(models::close);
      opened.add(managedProcesses::close);
      var mcp =
          new McpServers(
              config.mcpServers(),
              new McpServers.McpServersDependencies(
                  managedProcesses,
                  new OAuthTokens(signIns.credentials()),
                  McpTimeouts.DEFAULT,
                  ParleyVersion.text(),
                  new AddressPolicy(config.toolEnvironment().privateHosts())));
      opened.add(mcp::close);
      mcp.start();
      var tasks = tasks(log, views, models, mcp, signIns, agentHttpClient);
      opened.release();
      return new Server.ServerDependencies(
          log,
          views,
          tasks,
          metrics,
          signIns,
          new ClientProcessCheck(managedProcesses::roots, !config.approvals().ownProcess()),
          () -> {
            mcp.close();
            managedProcesses.close();
            models.close();
            agentHttpClient.close();
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

  private Vault vault() {
    return config.vault().inMemory()
        ? Vault.inMemory(serverSources.vault())
        : Vault.in(config.data(), config.vault().key(), serverSources.vault());
  }

  private Tasks tasks(
      EventLog log,
      Views views,
      Models models,
      McpServers mcp,
      SignIns signIns,
      AgentHttpClient agentHttpClient) {
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
                tools(signIns.credentials()),
                mcp,
                conversationMemory,
                signIns,
                programs,
                agentHttpClient,
                new A2aAgent.A2aAgentDependencies(
                    agentHttpClient,
                    log,
                    conversationMemory,
                    config.limits().inputTimeout(),
                    signIns,
                    signIns.credentials()::key,
                    serverSources.clock()),
                threads));
    var taskSettings =
        new Tasks.TaskSettings(
            agentFactory.agents(),
            new Workspaces(config.workspaces(), config.data(), config.workspacesListed()),
            config.limits(),
            extensions.failPoint());
    return new Tasks(log, contextHistory, taskSettings, taskSources());
  }

  private List<Tool> tools(CredentialProvider credentialProvider) {
    var builtIn =
        BuiltInTools.all(
            new BuiltInTools.BuiltInToolsDependencies(
                serverSources.clock(),
                managedProcesses,
                config.toolEnvironment().environment(),
                config.toolEnvironment().privateHosts(),
                credentialProvider::key,
                new FileAccess(config.workspaces(), config.data())));
    return Stream.concat(builtIn.stream(), extensions.tools().stream()).toList();
  }

  private dev.parley.task.ClockAndIds taskSources() {
    return new dev.parley.task.ClockAndIds(
        serverSources.clock(), () -> serverSources.ids().get().toString());
  }
}
