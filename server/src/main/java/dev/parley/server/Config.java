package dev.parley.server;

import dev.parley.door.Settings;
import dev.parley.mcp.McpServer;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// All that a server is told before it starts. Files and the environment are read once, into this.
public record Config(
    Settings door,
    boolean insecure,
    Path data,
    Map<String, ModelConfig> models,
    List<Agent> agents,
    AgentTypeId standardAgent,
    List<Path> workspaces,
    Work work,
    Duration idleContexts,
    List<McpServer> mcpServers) {

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
      List<String> taskTypes) {
    public Agent {
      tools = List.copyOf(tools);
      taskTypes = List.copyOf(taskTypes);
    }
  }

  /// How much work there may be. Where something is null, the part that uses it has a default.
  public record Work(
      @Nullable Duration taskTimeout,
      @Nullable Integer maxTurns,
      @Nullable Integer maxDepth,
      @Nullable Integer maxConcurrentTasks,
      @Nullable Integer maxQueuedPerContext) {}

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
    return new ConfigReader(surroundings).read(file);
  }

  /// The same, but listening there.
  public Config listeningOn(String host, int port) {
    var changed =
        new Settings(
            host,
            port,
            door.allowedHosts(),
            door.allowedOrigins(),
            door.tokens(),
            door.heartbeat(),
            door.limits());
    return with(changed, insecure, data);
  }

  /// The same, with its data in this folder.
  public Config keepingDataIn(Path folder) {
    return with(door, insecure, folder);
  }

  /// The same, but other machines may come in without a token.
  public Config madeInsecure() {
    return with(door, true, data);
  }

  /// The same, with another door.
  public Config with(Settings changed) {
    return with(changed, insecure, data);
  }

  private Config with(Settings newDoor, boolean newInsecure, Path newData) {
    return new Config(
        newDoor,
        newInsecure,
        newData,
        models,
        agents,
        standardAgent,
        workspaces,
        work,
        idleContexts,
        mcpServers);
  }
}
