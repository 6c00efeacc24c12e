package dev.parley.server;

import dev.parley.api.ApprovalPolicy.ApprovalSettings;
import dev.parley.api.a2a.A2aSettings;
import dev.parley.audit.AuditSettings;
import dev.parley.control.Budget;
import dev.parley.encryption.MasterKey;
import dev.parley.encryption.MasterKeyFile;
import dev.parley.http.HttpSettings;
import dev.parley.identity.IdentityDatabase;
import dev.parley.identity.oidc.OidcSettings;
import dev.parley.log.LogEncryption;
import dev.parley.log.PostgresAddress;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.task.TaskLimits;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The configuration of a server. Files and the environment are read once, into this record.
///
/// `workspacesListed` is false if the configuration lists no workspace. The only workspace is then
/// the folder in which the server was started.
public record Config(
    HttpSettings http,
    boolean insecure,
    Path data,
    Map<String, ModelConfig> models,
    List<AgentConfig> agents,
    @Nullable SupervisorConfig supervisor,
    List<Path> workspaces,
    boolean workspacesListed,
    TaskLimits limits,
    Duration idleContexts,
    List<McpServer> mcpServers,
    ToolEnvironment toolEnvironment,
    VaultConfig vault,
    Optional<String> publicUrl,
    A2aSettings a2a,
    ApprovalSettings approvals,
    List<Budget> budgets,
    ContainmentConfig containment,
    EncryptionConfig encryption,
    AuditSettings audit,
    Optional<OidcSettings> signIn) {

  public Config {
    models = Map.copyOf(models);
    agents = List.copyOf(agents);
    workspaces = List.copyOf(workspaces);
    mcpServers = List.copyOf(mcpServers);
    budgets = List.copyOf(budgets);
  }

  /// The agent that chooses other agents: its model, and the agent that it chooses by default.
  public record SupervisorConfig(String model, AgentTypeId fallback) {}

  /// The environment variables of commands, and the private hosts that tools may contact.
  public record ToolEnvironment(Map<String, String> environment, Set<String> privateHosts) {
    public ToolEnvironment {
      environment = Map.copyOf(environment);
      privateHosts = Set.copyOf(privateHosts);
    }
  }

  /// Where credentials are stored: in memory, or in an encrypted file. `key` is the key or
  /// passphrase of that file; without it, the key is stored in a file of its own.
  public record VaultConfig(boolean inMemory, @Nullable String key) {

    /// Never shows the key.
    @Override
    public String toString() {
      return inMemory ? "in memory" : "in a file";
    }
  }

  /// The master key with which the log is encrypted; null if it is not encrypted.
  public record EncryptionConfig(@Nullable MasterKey masterKey) {

    /// Stores nothing encrypted.
    public static final EncryptionConfig OFF = new EncryptionConfig(null);

    /// Returns true if content is encrypted before it is stored.
    public boolean isOn() {
      return masterKey != null;
    }

    /// Returns the encryption of a log.
    public LogEncryption forLog() {
      return masterKey == null ? LogEncryption.none() : LogEncryption.with(masterKey);
    }
  }

  /// A PostgreSQL database that several servers share, and the address at which the others reach
  /// this one; null for the address on which it listens.
  public record SharedDatabase(PostgresAddress address, @Nullable URI nodeAddress) {}

  /// The environment of the process: variables, the user's home folder, and the current folder.
  public record ProcessEnvironment(Map<String, String> environment, Path home, Path folder) {
    public ProcessEnvironment {
      environment = Map.copyOf(environment);
    }

    /// Returns the environment of this process.
    public static ProcessEnvironment ofProcess() {
      return new ProcessEnvironment(
          System.getenv(), Path.of(System.getProperty("user.home")), Path.of("").toAbsolutePath());
    }
  }

  /// Reads the configuration in `file`, or returns the defaults if it is null.
  ///
  /// @throws Rejection.Invalid if the configuration has errors; the message has their locations and
  ///     reasons
  public static Config load(@Nullable Path file, ProcessEnvironment processEnvironment) {
    return load(file, processEnvironment, Extensions.NONE);
  }

  /// Does the same for a file that may also name agents and tools in `extensions`.
  ///
  /// @throws Rejection.Invalid if the configuration has errors; the message has their locations and
  ///     reasons
  public static Config load(
      @Nullable Path file, ProcessEnvironment processEnvironment, Extensions extensions) {
    return new ConfigReader(processEnvironment, extensions).read(file);
  }

  /// Returns the default configuration in the environment of this process. Use [#with(List)] for
  /// other agents.
  public static Config standard() {
    return load(null, ProcessEnvironment.ofProcess());
  }

  /// Returns the configuration with these agents only. [Extensions] may add more.
  public Config with(List<AgentConfig> newAgents) {
    return changed(
        copy -> {
          copy.agents = newAgents;
          copy.supervisorConfig = null;
        });
  }

  /// Returns the configuration with these folders as workspaces.
  public Config workingIn(Path... folders) {
    return changed(
        copy -> {
          copy.workspaces = List.of(folders);
          copy.workspacesListed = true;
        });
  }

  /// Returns the configuration with this address to listen on.
  public Config listeningOn(String host, int port) {
    return with(
        new HttpSettings(
            host,
            port,
            http.allowedHosts(),
            http.allowedOrigins(),
            http.tokens(),
            http.heartbeat(),
            http.limits(),
            http.edge(),
            http.loginRequired()));
  }

  /// Returns the configuration with this data folder.
  public Config keepingDataIn(Path folder) {
    return changed(copy -> copy.data = folder);
  }

  /// Returns a configuration that allows other machines to connect without a token.
  public Config madeInsecure() {
    return changed(copy -> copy.insecure = true);
  }

  /// Returns the configuration for a process that runs only the server. Requests of the process
  /// itself are then not accepted as answers of a person, and orphaned child processes stay below
  /// the server.
  public Config standalone() {
    return changed(copy -> copy.approvals = approvals.standalone());
  }

  /// Returns the configuration with this isolation of processes, and this policy for untrusted text.
  public Config with(ContainmentConfig newContainment) {
    return changed(copy -> copy.containment = newContainment);
  }

  /// The files that no program of an agent may see: the configuration, and the keys that it names.
  Stream<Path> secretFiles() {
    var files = new ArrayList<>(containment.hidden());
    var tls = http.edge().tls();
    if (tls != null) {
      files.add(tls.key());
    }
    if (encryption.masterKey() instanceof MasterKeyFile(var file)) {
      files.add(file);
    }
    return files.stream();
  }

  /// Returns the configuration for the tenants that this database has.
  Config withTenantsOf(IdentityDatabase identities) {
    return identities.severalTenants() ? with(containment.with(true)) : this;
  }

  /// Returns the configuration with other HTTP settings.
  public Config with(HttpSettings newApi) {
    return changed(copy -> copy.http = newApi);
  }

  /// Returns the configuration with the agents, the tools and the default model of `extensions`, and
  /// with a supervisor if there are several agents.
  ///
  /// @throws Rejection.Invalid if a name is ambiguous or unknown
  Config withExtensions(Extensions extensions) {
    var missing = models.containsValue(new ModelConfig.Missing());
    if (missing && !extensions.models().isEmpty()) {
      var model = extensions.models().getFirst();
      return changed(copy -> copy.models = Map.of(ModelConfigReader.STANDARD, model))
          .withExtensions(extensions);
    }
    var agentRegistry = new AgentRegistry(agents, extensions);
    var problems = new ConfigProblems();
    agentRegistry.check(problems);
    for (var agent : agents) {
      if (agent.kind() instanceof AgentKind.Llm && !models.containsKey(agent.model())) {
        problems.add(
            ConfigProblem.unknown(
                "agents." + agent.id() + ".model", "model", agent.model(), models.keySet()));
      } else if (agent.kind() instanceof AgentKind.Llm
          && models.get(agent.model()) instanceof ModelConfig.Missing) {
        problems.add(ModelConfigReader.noModel("agents." + agent.id() + ".model"));
      }
      McpConfigReader.check(agent, mcpServers, problems.under("agents." + agent.id()));
    }
    problems.throwIfAny(null);
    var model =
        models.containsKey(ModelConfigReader.STANDARD)
            ? ModelConfigReader.STANDARD
            : models.keySet().iterator().next();
    return changed(copy -> copy.supervisorConfig = agentRegistry.supervisor(supervisor, model));
  }

  private Config changed(Consumer<Copy> change) {
    var copy = new Copy(this);
    change.accept(copy);
    return new Config(
        copy.http,
        copy.insecure,
        copy.data,
        copy.models,
        copy.agents,
        copy.supervisorConfig,
        copy.workspaces,
        copy.workspacesListed,
        limits,
        idleContexts,
        mcpServers,
        toolEnvironment,
        vault,
        publicUrl,
        a2a,
        copy.approvals,
        budgets,
        copy.containment,
        encryption,
        audit,
        signIn);
  }

  /// A mutable copy of the fields that a program may change.
  private static final class Copy {
    private HttpSettings http;
    private boolean insecure;
    private Path data;
    private Map<String, ModelConfig> models;
    private List<AgentConfig> agents;
    private @Nullable SupervisorConfig supervisorConfig;
    private List<Path> workspaces;
    private boolean workspacesListed;
    private ApprovalSettings approvals;
    private ContainmentConfig containment;

    Copy(Config config) {
      http = config.http;
      insecure = config.insecure;
      data = config.data;
      models = config.models;
      agents = config.agents;
      supervisorConfig = config.supervisor;
      workspaces = config.workspaces;
      workspacesListed = config.workspacesListed;
      approvals = config.approvals;
      containment = config.containment;
    }
  }
}
