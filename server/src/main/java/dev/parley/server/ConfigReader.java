package dev.parley.server;

import static dev.parley.server.ConfigYaml.invalid;
import static dev.parley.task.Limits.INPUT_TIMEOUT_MAX;
import static dev.parley.task.Limits.TIMEOUT_MAX;

import dev.parley.door.Limits;
import dev.parley.door.Settings;
import dev.parley.door.Tokens.Token;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.AuthSection;
import dev.parley.server.ConfigFile.LimitSection;
import dev.parley.server.ConfigFile.VaultSection;
import dev.parley.task.Limits.Loop;
import dev.parley.task.Limits.Tree;
import dev.parley.task.WhenLapsed;
import dev.parley.tool.Shell;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes a [Config] of what is written and of what is not.
final class ConfigReader {

  private static final String HOST = "127.0.0.1";
  private static final int PORT = 7070;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private final Config.Surroundings surroundings;
  private final Extensions extensions;

  ConfigReader(Config.Surroundings surroundings, Extensions extensions) {
    this.surroundings = surroundings;
    this.extensions = extensions;
  }

  Config read(@Nullable Path path) {
    try {
      return understood(path);
    } catch (Rejection.Invalid wrong) {
      var message = String.valueOf(wrong.getMessage());
      throw path == null || message.startsWith(path.toString())
          ? wrong
          : invalid(path + ": " + message);
    }
  }

  private Config understood(@Nullable Path path) {
    var file =
        path == null ? ConfigFile.EMPTY : new ConfigYaml(surroundings.environment()).read(path);
    var models = new ModelReader(surroundings.environment()).read(file.models());
    var servers = new McpConfig(surroundings).read(or(file.mcpServers(), Map.of()));
    var reader =
        new AgentReader(models.keySet(), new CliReader(surroundings.environment(), servers));
    var agents = reader.agents(file.agents());
    var roster = new Roster(agents, extensions);
    roster.check();
    agents.forEach(agent -> McpConfig.check(agent, servers));
    return new Config(
        settings(file),
        false,
        surroundings.home().resolve(".parley"),
        models,
        agents,
        reader.supervisor(file.supervisor(), roster),
        workspaces(file),
        !or(file.workspaces(), List.<String>of()).stream().allMatch("."::equals),
        work(file.limits()),
        file.retention() == null || file.retention().idleContexts() == null
            ? Duration.ZERO
            : file.retention().idleContexts(),
        servers,
        new Config.Outside(
            Shell.environment(surroundings.environment(), Set.of()),
            Set.copyOf(or(file.privateHosts(), List.of()))),
        vault(file.vault()),
        Optional.ofNullable(file.publicUrl()).map(ConfigReader::publicUrl),
        A2aReader.read(file.a2a()),
        ApprovalReader.read(file));
  }

  private Config.VaultConfig vault(@Nullable VaultSection section) {
    var store = section == null ? null : section.store();
    var key = section == null ? null : section.key();
    if (store != null && !store.equals("file") && !store.equals("memory")) {
      throw invalid("vault.store must be file or memory");
    }
    var inMemory = "memory".equals(store);
    if (inMemory && key != null) {
      throw invalid("vault: a vault in memory has no key");
    }
    return new Config.VaultConfig(
        inMemory, key == null ? surroundings.environment().get("PARLEY_VAULT_KEY") : key);
  }

  private static String publicUrl(String text) {
    if (!text.matches("https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~/-]*)?")) {
      throw invalid("publicUrl must be where browsers reach this server: https://example.org");
    }
    return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
  }

  private static Settings settings(ConfigFile file) {
    var limits = Limits.USUAL;
    if (file.limits() != null && file.limits().maxStreams() != null) {
      var streams = positive("limits.maxStreams", file.limits().maxStreams());
      limits = new Limits(limits.bodyBytes(), streams, limits.stall(), limits.bodyTime());
    }
    return new Settings(
        HOST,
        PORT,
        Set.copyOf(or(file.allowedHosts(), List.of())),
        Set.copyOf(or(file.allowedOrigins(), List.of())),
        tokens(file.auth()),
        or(file.heartbeat(), HEARTBEAT),
        limits);
  }

  private static List<Token> tokens(@Nullable AuthSection auth) {
    if (auth == null || auth.tokens() == null) {
      return List.of();
    }
    if (auth.tokens().isEmpty()) {
      throw invalid("auth.tokens: at least one token is needed, or no auth at all");
    }
    try {
      return auth.tokens().stream()
          .map(
              token ->
                  new Token(
                      or(token.name(), ""), or(token.sha256(), ""), or(token.internal(), true)))
          .toList();
    } catch (Rejection.Invalid misfit) {
      throw invalid("auth.tokens: " + misfit.getMessage());
    }
  }

  private List<Path> workspaces(ConfigFile file) {
    var folders = or(file.workspaces(), List.<String>of());
    return folders.isEmpty()
        ? List.of(surroundings.folder())
        : folders.stream().map(surroundings.folder()::resolve).map(Path::normalize).toList();
  }

  private static dev.parley.task.Limits work(@Nullable LimitSection limits) {
    var usual = dev.parley.task.Limits.DEFAULT;
    if (limits == null) {
      return usual;
    }
    return new dev.parley.task.Limits(
        time("limits.taskTimeout", limits.taskTimeout(), usual.taskTimeout(), TIMEOUT_MAX),
        count("limits.maxConcurrentTasks", limits.maxConcurrentTasks(), usual.maxConcurrentTasks()),
        count(
            "limits.maxQueuedPerContext",
            limits.maxQueuedPerContext(),
            usual.maxQueuedPerContext()),
        usual.maxQueuedContexts(),
        usual.maxContentLength(),
        usual.stopGrace(),
        time("limits.inputTimeout", limits.inputTimeout(), usual.inputTimeout(), INPUT_TIMEOUT_MAX),
        whenLapsed(limits.whenInputLapses(), usual.whenInputLapses()),
        loop(limits, usual.loop()),
        new Tree(
            count("limits.maxDepth", limits.maxDepth(), usual.tree().maxDepth()),
            count("limits.maxFanOut", limits.maxFanOut(), usual.tree().maxFanOut()),
            count("limits.maxSubtasks", limits.maxSubtasks(), usual.tree().maxSubtasks())));
  }

  private static WhenLapsed whenLapsed(@Nullable String name, WhenLapsed usual) {
    return name == null
        ? usual
        : Arrays.stream(WhenLapsed.values())
            .filter(choice -> choice.wire().equals(name))
            .findFirst()
            .orElseThrow(() -> invalid("limits.whenInputLapses is continue or fail, not " + name));
  }

  private static Loop loop(LimitSection limits, Loop usual) {
    return new Loop(
        count("limits.maxTurns", limits.maxTurns(), usual.maxTurns()),
        limits.maxTokens() == null
            ? usual.maxTokens()
            : positive("limits.maxTokens", limits.maxTokens()),
        usual.maxFailedTurns(),
        usual.historyMessages(),
        historyTokens(limits, usual.historyTokens()));
  }

  /// Of both ways to say it the smaller holds.
  private static int historyTokens(LimitSection limits, int usual) {
    var tokens = count("limits.historyTokens", limits.historyTokens(), usual);
    var characters = limits.historyCharacters();
    return characters == null
        ? tokens
        : Math.min(tokens, Math.max(1, positive("limits.historyCharacters", characters) / 4));
  }

  private static Duration time(String name, @Nullable Duration time, Duration usual, Duration max) {
    if (time != null && (time.toMillis() < 1 || time.compareTo(max) > 0)) {
      throw invalid(name + " must be between 1ms and " + max.toHours() + "h");
    }
    return or(time, usual);
  }

  private static int count(String name, @Nullable Integer number, int usual) {
    return number == null ? usual : positive(name, number);
  }

  private static int positive(String name, int number) {
    if (number < 1) {
      throw invalid(name + " must be at least 1");
    }
    return number;
  }

  static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
