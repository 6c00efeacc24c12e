package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigProblem.quoted;
import static dev.parley.task.TaskLimits.INPUT_TIMEOUT_MAX;
import static dev.parley.task.TaskLimits.TIMEOUT_MAX;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpSettings;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.AuthSection;
import dev.parley.server.ConfigFile.LimitSection;
import dev.parley.server.ConfigFile.VaultSection;
import dev.parley.task.TaskLimits.LoopLimits;
import dev.parley.task.TaskLimits.TreeLimits;
import dev.parley.task.WhenLapsed;
import dev.parley.tool.ShellTool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Builds a [Config] from the configuration file and the defaults.
final class ConfigReader {

  private static final String HOST = "127.0.0.1";
  private static final int PORT = 7070;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private static final Pattern HOST_NAME = Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]");
  private static final Pattern ORIGIN =
      Pattern.compile("[a-z][a-z0-9+.-]*://(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::\\d{1,5})?");

  private final Config.ProcessEnvironment processEnvironment;
  private final Extensions extensions;

  ConfigReader(Config.ProcessEnvironment processEnvironment, Extensions extensions) {
    this.processEnvironment = processEnvironment;
    this.extensions = extensions;
  }

  Config read(@Nullable Path path) {
    var text = path == null ? null : ConfigTree.read(path);
    var problems = new ConfigProblems();
    var file =
        text == null
            ? ConfigFile.EMPTY
            : new ConfigBinder(processEnvironment.environment(), problems).bind(text);
    if (problems.any()) {
      checkOtherSections(file, problems);
    }
    problems.throwIfAny(text);
    var config = build(file, problems);
    problems.throwIfAny(text);
    return Objects.requireNonNull(config);
  }

  /// Checks the sections that have no errors yet. Sections that refer to invalid sections are not
  /// checked, because their errors would only be consequences.
  private void checkOtherSections(ConfigFile file, ConfigProblems problems) {
    var wrong = problems.sections();
    Map<String, Runnable> checks =
        Map.of(
            "models",
            () ->
                new ModelConfigReader(processEnvironment.environment())
                    .read(file.models(), problems),
            "mcpServers",
            () -> new McpConfigReader(processEnvironment).read(file.mcpServers(), problems),
            "allowedHosts",
            () -> hosts(or(file.allowedHosts(), List.of())),
            "allowedOrigins",
            () -> origins(or(file.allowedOrigins(), List.of())),
            "auth",
            () -> tokens(file.auth()),
            "workspaces",
            () -> workspaces(file),
            "limits",
            () -> work(file.limits()),
            "vault",
            () -> vault(file.vault()),
            "a2a",
            () -> A2aConfigReader.read(file.a2a()),
            "publicUrl",
            () -> publicUrl(file.publicUrl()));
    checks.forEach(
        (section, check) -> {
          if (!wrong.contains(section)) {
            problems.check(check);
          }
        });
  }

  /// Returns the configuration, or null if there are problems.
  private @Nullable Config build(ConfigFile file, ConfigProblems problems) {
    var models =
        new ModelConfigReader(processEnvironment.environment()).read(file.models(), problems);
    var servers = new McpConfigReader(processEnvironment).read(file.mcpServers(), problems);
    var reader =
        new AgentConfigReader(
            models.keySet(), new CliConfigReader(processEnvironment.environment(), servers));
    var agents = reader.agents(file.agents(), problems);
    var agentRegistry = new AgentRegistry(agents, extensions);
    if (file.agents() == null || agents.size() == file.agents().size()) {
      agentRegistry.check(problems);
      agents.forEach(agent -> problems.check(() -> McpConfigReader.check(agent, servers)));
      problems.check(() -> reader.supervisor(file.supervisor(), agentRegistry));
    }
    var api = problems.collect(() -> settings(file));
    var workspaces = problems.collect(() -> workspaces(file));
    var taskLimits = problems.collect(() -> work(file.limits()));
    var vault = problems.collect(() -> vault(file.vault()));
    var a2a = problems.collect(() -> A2aConfigReader.read(file.a2a()));
    var approvals = problems.collect(() -> ApprovalConfigReader.read(file));
    var publicUrl = problems.collect(() -> publicUrl(file.publicUrl()));
    if (problems.any()
        || api == null
        || workspaces == null
        || taskLimits == null
        || vault == null
        || a2a == null
        || approvals == null
        || publicUrl == null) {
      return null;
    }
    return new Config(
        api,
        false,
        processEnvironment.home().resolve(".parley"),
        models,
        agents,
        reader.supervisor(file.supervisor(), agentRegistry),
        workspaces,
        !or(file.workspaces(), List.<String>of()).stream().allMatch("."::equals),
        taskLimits,
        file.retention() == null || file.retention().idleContexts() == null
            ? Duration.ZERO
            : file.retention().idleContexts(),
        servers,
        new Config.ToolEnvironment(
            ShellTool.environment(processEnvironment.environment(), Set.of()),
            Set.copyOf(or(file.privateHosts(), List.of()))),
        vault,
        publicUrl,
        a2a,
        approvals);
  }

  private Config.VaultConfig vault(@Nullable VaultSection section) {
    var store = section == null ? null : section.store();
    var key = section == null ? null : section.key();
    if (store != null && !store.equals("file") && !store.equals("memory")) {
      throw notOneOf("vault.store", store, List.of("file", "memory"));
    }
    var inMemory = "memory".equals(store);
    if (inMemory && key != null) {
      throw invalid("vault.key", "is not allowed for a vault in memory");
    }
    return new Config.VaultConfig(
        inMemory, key == null ? processEnvironment.environment().get("PARLEY_VAULT_KEY") : key);
  }

  private static Optional<String> publicUrl(@Nullable String text) {
    if (text == null) {
      return Optional.empty();
    }
    if (!text.matches("https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~/-]*)?")) {
      throw invalid(
          "publicUrl",
          "must be where browsers reach this server, such as https://example.org; found "
              + quoted(text));
    }
    return Optional.of(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
  }

  private static HttpSettings settings(ConfigFile file) {
    var httpLimits = HttpLimits.DEFAULTS;
    if (file.limits() != null && file.limits().maxStreams() != null) {
      var streams = positive("limits.maxStreams", file.limits().maxStreams());
      httpLimits =
          new HttpLimits(
              httpLimits.bodyBytes(), streams, httpLimits.stall(), httpLimits.bodyTime());
    }
    return new HttpSettings(
        HOST,
        PORT,
        hosts(or(file.allowedHosts(), List.of())),
        origins(or(file.allowedOrigins(), List.of())),
        tokens(file.auth()),
        or(file.heartbeat(), HEARTBEAT),
        httpLimits);
  }

  private static Set<String> hosts(List<String> hosts) {
    for (var i = 0; i < hosts.size(); i++) {
      if (!HOST_NAME.matcher(hosts.get(i)).matches()) {
        throw invalid(
            "allowedHosts[" + i + "]",
            "must be a host without scheme and port, such as example.org; found "
                + quoted(hosts.get(i)));
      }
    }
    return Set.copyOf(hosts);
  }

  private static Set<String> origins(List<String> origins) {
    for (var i = 0; i < origins.size(); i++) {
      var origin = origins.get(i);
      if (!ORIGIN.matcher(origin).matches()) {
        var bare = origin.replaceFirst("/+$", "");
        var meant = bare.contains("://") ? bare : "https://" + bare;
        throw invalid(
            "allowedOrigins[" + i + "]",
            "must be scheme://host or scheme://host:port, without a path; found "
                + quoted(origin)
                + (ORIGIN.matcher(meant).matches() ? ". Did you mean " + meant + "?" : ""));
      }
    }
    return Set.copyOf(origins);
  }

  private static List<ApiToken> tokens(@Nullable AuthSection auth) {
    if (auth == null || auth.tokens() == null) {
      return List.of();
    }
    if (auth.tokens().isEmpty()) {
      throw invalid("auth.tokens", "at least one token is needed; remove auth to use none");
    }
    var tokens = new ArrayList<ApiToken>();
    for (var i = 0; i < auth.tokens().size(); i++) {
      var token = auth.tokens().get(i);
      try {
        tokens.add(
            new ApiToken(or(token.name(), ""), or(token.sha256(), ""), or(token.internal(), true)));
      } catch (Rejection.Invalid misfit) {
        var item = token.name() == null ? "[" + i + "]" : token.name();
        throw invalid(ConfigTree.join("auth.tokens", item), String.valueOf(misfit.getMessage()));
      }
    }
    return tokens;
  }

  private List<Path> workspaces(ConfigFile file) {
    var names = or(file.workspaces(), List.<String>of());
    if (names.isEmpty()) {
      return List.of(processEnvironment.folder());
    }
    var folders = new ArrayList<Path>();
    for (var i = 0; i < names.size(); i++) {
      var folder = processEnvironment.folder().resolve(names.get(i)).normalize();
      if (!Files.isDirectory(folder)) {
        throw invalid(
            "workspaces[" + i + "]",
            (Files.exists(folder) ? "this is not a folder: " : "there is no folder ") + folder);
      }
      folders.add(folder);
    }
    return folders;
  }

  private static dev.parley.task.TaskLimits work(@Nullable LimitSection limits) {
    var usual = dev.parley.task.TaskLimits.DEFAULT;
    if (limits == null) {
      return usual;
    }
    return new dev.parley.task.TaskLimits(
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
        new TreeLimits(
            count("limits.maxDepth", limits.maxDepth(), usual.tree().maxDepth()),
            count("limits.maxFanOut", limits.maxFanOut(), usual.tree().maxFanOut()),
            count("limits.maxSubtasks", limits.maxSubtasks(), usual.tree().maxSubtasks())));
  }

  private static WhenLapsed whenLapsed(@Nullable String name, WhenLapsed usual) {
    if (name == null) {
      return usual;
    }
    var choices = Arrays.asList(WhenLapsed.values());
    return choices.stream()
        .filter(choice -> choice.wire().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                notOneOf(
                    "limits.whenInputLapses",
                    name,
                    choices.stream().map(WhenLapsed::wire).toList()));
  }

  private static LoopLimits loop(LimitSection limits, LoopLimits usual) {
    return new LoopLimits(
        count("limits.maxTurns", limits.maxTurns(), usual.maxTurns()),
        limits.maxTokens() == null
            ? usual.maxTokens()
            : positive("limits.maxTokens", limits.maxTokens()),
        usual.maxFailedTurns(),
        usual.historyMessages(),
        historyTokens(limits, usual.historyTokens()));
  }

  /// Uses the smaller one of the limits in tokens and in characters.
  private static int historyTokens(LimitSection limits, int usual) {
    var tokens = count("limits.historyTokens", limits.historyTokens(), usual);
    var characters = limits.historyCharacters();
    return characters == null
        ? tokens
        : Math.min(tokens, Math.max(1, positive("limits.historyCharacters", characters) / 4));
  }

  private static Duration time(String name, @Nullable Duration time, Duration usual, Duration max) {
    if (time != null && (time.toMillis() < 1 || time.compareTo(max) > 0)) {
      throw invalid(name, "must be between 1ms and " + max.toHours() + "h");
    }
    return or(time, usual);
  }

  private static int count(String name, @Nullable Integer number, int usual) {
    return number == null ? usual : positive(name, number);
  }

  private static int positive(String name, int number) {
    if (number < 1) {
      throw invalid(name, "must be at least 1; found " + number);
    }
    return number;
  }

  static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
