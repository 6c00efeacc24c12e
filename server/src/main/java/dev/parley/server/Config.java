package dev.parley.server;

import dev.parley.a2a.remote.RemoteSettings;
import dev.parley.agent.Policy;
import dev.parley.cli.CliSettings;
import dev.parley.door.ApprovalSettings;
import dev.parley.door.Settings;
import dev.parley.door.a2a.A2aSettings;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.proxy.ProxySettings;
import dev.parley.task.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// All that a server is told before it starts. Files and the environment are read once, into this.
///
/// `workspacesListed` is false if the only workspace is the folder in which the server was started, because the
/// configuration lists no other.
public record Config(
    Settings door,
    boolean insecure,
    Path data,
    Map<String, ModelConfig> models,
    List<Agent> agents,
    @Nullable Supervisor supervisor,
    List<Path> workspaces,
    boolean workspacesListed,
    Limits limits,
    Duration idleContexts,
    List<McpServer> mcpServers,
    Outside outside,
    VaultConfig vault,
    Optional<String> publicUrl,
    A2aSettings a2a,
    ApprovalSettings approvals) {

  public Config {
    models = Map.copyOf(models);
    agents = List.copyOf(agents);
    workspaces = List.copyOf(workspaces);
    mcpServers = List.copyOf(mcpServers);
  }

  /// An agent type.
  public record Agent(
      AgentTypeId id,
      String name,
      @Nullable String description,
      String model,
      @Nullable String instructions,
      List<String> tools,
      List<String> taskTypes,
      Policy policy,
      Kind kind) {
    public Agent {
      tools = List.copyOf(tools);
      taskTypes = List.copyOf(taskTypes);
    }

    /// An agent with the model `default`, the usual instructions, and these tools.
    public static Agent of(String id, String description, String... tools) {
      return new Agent(
          new AgentTypeId(id),
          id,
          description,
          ModelReader.STANDARD,
          null,
          List.of(tools),
          List.of(),
          Policy.USUAL,
          new Kind.Llm());
    }

    /// The same, but its model is told this first.
    public Agent told(String newInstructions) {
      return new Agent(
          id, name, description, model, newInstructions, tools, taskTypes, policy, kind);
    }

    /// The same, but with another rule of what it may call.
    public Agent with(Policy newPolicy) {
      return new Agent(
          id, name, description, model, instructions, tools, taskTypes, newPolicy, kind);
    }
  }

  /// What does an agent's work.
  public sealed interface Kind {

    /// What the configuration calls it.
    default String wire() {
      return switch (this) {
        case Llm _ -> "llm";
        case Cli _ -> "cli";
        case Proxy _ -> "proxy";
        case A2a _ -> "a2a";
        case Conformance _ -> "conformance";
      };
    }

    /// A loop around one of the models.
    record Llm() implements Kind {}

    /// A program of its own.
    record Cli(CliSettings settings) implements Kind {}

    /// An agent behind a service elsewhere.
    record Proxy(ProxySettings settings) implements Kind {}

    /// An agent elsewhere that speaks Agent2Agent.
    record A2a(RemoteSettings settings) implements Kind {}

    /// What the conformance kits of A2A ask for.
    record Conformance() implements Kind {}
  }

  /// Who decides which agents act: with which model, and who acts where nothing points to another.
  public record Supervisor(String model, AgentTypeId fallback) {}

  /// What tools see of the world: the environment of commands, and hosts that are not public and that
  /// they may talk to.
  public record Outside(Map<String, String> environment, Set<String> privateHosts) {
    public Outside {
      environment = Map.copyOf(environment);
      privateHosts = Set.copyOf(privateHosts);
    }
  }

  /// Where credentials are kept: in memory only, or in an encrypted file; `key` is its key or
  /// passphrase, if it is not to have a file of its own.
  public record VaultConfig(boolean inMemory, @Nullable String key) {

    /// Never shows the key.
    @Override
    public String toString() {
      return inMemory ? "in memory" : "in a file";
    }
  }

  /// What surrounds the process: its environment, the user's home, the folder it was started in.
  public record Surroundings(Map<String, String> environment, Path home, Path folder) {
    public Surroundings {
      environment = Map.copyOf(environment);
    }

    /// Those of this process.
    public static Surroundings ofProcess() {
      return new Surroundings(
          System.getenv(), Path.of(System.getProperty("user.home")), Path.of("").toAbsolutePath());
    }
  }

  /// The configuration in `file`, or every default if there is none.
  ///
  /// @throws Rejection.Invalid if it cannot be used, saying where and why
  public static Config load(@Nullable Path file, Surroundings surroundings) {
    return load(file, surroundings, Extensions.NONE);
  }

  /// The same, where the file may name agents and tools of the program's own.
  ///
  /// @throws Rejection.Invalid if it cannot be used, saying where and why
  public static Config load(@Nullable Path file, Surroundings surroundings, Extensions extensions) {
    return new ConfigReader(surroundings, extensions).read(file);
  }

  /// Every default, in the surroundings of this process: the usual agents, or those of [#with(List)].
  public static Config standard() {
    return load(null, Surroundings.ofProcess());
  }

  /// The same, with these agents and no others; [Extensions] may bring more.
  public Config with(List<Agent> newAgents) {
    return changed(
        copy -> {
          copy.agents = newAgents;
          copy.supervisor = null;
        });
  }

  /// The same, whose tasks may work in these folders.
  public Config workingIn(Path... folders) {
    return changed(
        copy -> {
          copy.workspaces = List.of(folders);
          copy.workspacesListed = true;
        });
  }

  /// The same, but listening there.
  public Config listeningOn(String host, int port) {
    return with(
        new Settings(
            host,
            port,
            door.allowedHosts(),
            door.allowedOrigins(),
            door.tokens(),
            door.heartbeat(),
            door.limits()));
  }

  /// The same, with its data in this folder.
  public Config keepingDataIn(Path folder) {
    return changed(copy -> copy.data = folder);
  }

  /// The same, but other machines may come in without a token.
  public Config madeInsecure() {
    return changed(copy -> copy.insecure = true);
  }

  /// The same, for a program that is the server and nothing else: what its own process sends is no person's answer, and
  /// processes that lose their parents stay below it.
  public Config standalone() {
    return changed(copy -> copy.approvals = approvals.standalone());
  }

  /// The same, with another door.
  public Config with(Settings newDoor) {
    return changed(copy -> copy.door = newDoor);
  }

  /// The same with everything that `extensions` bring: a supervisor, if there is something to decide.
  ///
  /// @throws Rejection.Invalid if names stand for two things, or for none
  Config joinedBy(Extensions extensions) {
    var roster = new Roster(agents, extensions);
    var problems = new ConfigProblems();
    roster.check(problems);
    for (var agent : agents) {
      if (agent.kind() instanceof Kind.Llm && !models.containsKey(agent.model())) {
        problems.add(
            ConfigProblem.unknown(
                "agents." + agent.id() + ".model", "model", agent.model(), models.keySet()));
      }
      problems.check(() -> McpConfig.check(agent, mcpServers));
    }
    problems.throwIfAny(null);
    var model =
        models.containsKey(ModelReader.STANDARD)
            ? ModelReader.STANDARD
            : models.keySet().iterator().next();
    return changed(copy -> copy.supervisor = roster.supervisor(supervisor, model));
  }

  private Config changed(Consumer<Copy> change) {
    var copy = new Copy(this);
    change.accept(copy);
    return new Config(
        copy.door,
        copy.insecure,
        copy.data,
        models,
        copy.agents,
        copy.supervisor,
        copy.workspaces,
        copy.workspacesListed,
        limits,
        idleContexts,
        mcpServers,
        outside,
        vault,
        publicUrl,
        a2a,
        copy.approvals);
  }

  /// The parts of a configuration that a program may change, until they are a configuration again.
  private static final class Copy {
    private Settings door;
    private boolean insecure;
    private Path data;
    private List<Agent> agents;
    private @Nullable Supervisor supervisor;
    private List<Path> workspaces;
    private boolean workspacesListed;
    private ApprovalSettings approvals;

    Copy(Config config) {
      door = config.door;
      insecure = config.insecure;
      data = config.data;
      agents = config.agents;
      supervisor = config.supervisor;
      workspaces = config.workspaces;
      workspacesListed = config.workspacesListed;
      approvals = config.approvals;
    }
  }
}
