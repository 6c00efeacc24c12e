package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigProblem.quoted;
import static dev.parley.task.TaskLimits.INPUT_TIMEOUT_MAX;
import static dev.parley.task.TaskLimits.TIMEOUT_MAX;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpSettings;
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
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Builds a [Config] from the configuration file and the defaults.
final class ConfigReader {

  private static final String HOST = "127.0.0.1";
  private static final int PORT = 7070;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private static final Pattern HOST_NAME = Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]");
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(?:" + HOST_NAME.pattern() + ")(?::(?<port>\\d{1,5}))?");
  private static final int PORT_MAX = 65_535;

  /// A valid hash, to check the name of a token alone.
  private static final String ANY_HASH = "0".repeat(64);

  private static final Pattern ORIGIN =
      Pattern.compile("[a-z][a-z0-9+.-]*://(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::\\d{1,5})?");

  private final Config.ProcessEnvironment processEnvironment;
  private final Extensions extensions;
  private final ConfigProblems problems = new ConfigProblems();

  ConfigReader(Config.ProcessEnvironment processEnvironment, Extensions extensions) {
    this.processEnvironment = processEnvironment;
    this.extensions = extensions;
  }

  Config read(@Nullable Path path) {
    var text = path == null ? null : ConfigTree.read(path);
    var file =
        text == null
            ? ConfigFile.EMPTY
            : new ConfigBinder(processEnvironment.environment(), problems).bind(text);
    var config = build(file);
    problems.throwIfAny(text);
    return config;
  }

  /// Returns the configuration. Defaults replace all values with errors, which are collected.
  private Config build(ConfigFile file) {
    var models =
        new ModelConfigReader(processEnvironment.environment()).read(file.models(), problems);
    var servers = new McpConfigReader(processEnvironment).read(file.mcpServers(), problems);
    var reader =
        new AgentConfigReader(
            models.keySet(), new CliConfigReader(processEnvironment.environment(), servers));
    var agents = reader.agents(file.agents(), problems);
    var agentRegistry = new AgentRegistry(agents, extensions);
    agentRegistry.check(problems, reader::problemsOf);
    agents.forEach(agent -> McpConfigReader.check(agent, servers, reader.problemsOf(agent)));
    return new Config(
        settings(file),
        false,
        processEnvironment.home().resolve(".parley"),
        models,
        agents,
        reader.supervisor(file.supervisor(), agentRegistry, problems),
        workspaces(file),
        !or(file.workspaces(), List.<String>of()).stream().allMatch("."::equals),
        work(file.limits()),
        file.retention() == null || file.retention().idleContexts() == null
            ? Duration.ZERO
            : file.retention().idleContexts(),
        servers,
        new Config.ToolEnvironment(
            ShellTool.environment(processEnvironment.environment(), Set.of()),
            privateHosts(or(file.privateHosts(), List.of()))),
        vault(file.vault()),
        publicUrl(file.publicUrl()),
        A2aConfigReader.read(file.a2a(), problems),
        ApprovalConfigReader.read(file, problems));
  }

  private Config.VaultConfig vault(@Nullable VaultSection section) {
    var store = section == null ? null : section.store();
    var key = section == null ? null : section.key();
    if (store != null && !store.equals("file") && !store.equals("memory")) {
      problems.add(notOneOf("vault.store", store, List.of("file", "memory")));
    }
    var inMemory = "memory".equals(store);
    if (inMemory && key != null) {
      problems.add(invalid("vault.key", "is not allowed for a vault in memory"));
    }
    return new Config.VaultConfig(
        inMemory, key == null ? processEnvironment.environment().get("PARLEY_VAULT_KEY") : key);
  }

  private Optional<String> publicUrl(@Nullable String text) {
    if (text == null) {
      return Optional.empty();
    }
    if (!text.matches("https?://[A-Za-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~/-]*)?")) {
      problems.add(
          invalid(
              "publicUrl",
              "must be where browsers reach this server, such as https://example.org; found "
                  + quoted(text)));
    }
    return Optional.of(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
  }

  private HttpSettings settings(ConfigFile file) {
    var usual = HttpLimits.DEFAULTS;
    var streams = file.limits() == null ? null : file.limits().maxStreams();
    var httpLimits =
        new HttpLimits(
            usual.bodyBytes(),
            count("limits.maxStreams", streams, usual.streams()),
            usual.stall(),
            usual.bodyTime());
    return new HttpSettings(
        HOST,
        PORT,
        hosts(or(file.allowedHosts(), List.of())),
        origins(or(file.allowedOrigins(), List.of())),
        tokens(file.auth()),
        or(file.heartbeat(), HEARTBEAT),
        httpLimits);
  }

  private Set<String> hosts(List<String> hosts) {
    for (var i = 0; i < hosts.size(); i++) {
      if (!HOST_NAME.matcher(hosts.get(i)).matches()) {
        problems.add(
            invalid(
                "allowedHosts[" + i + "]",
                "must be a host without scheme and port, such as example.org; found "
                    + quoted(hosts.get(i))));
      }
    }
    return Set.copyOf(hosts);
  }

  private Set<String> privateHosts(List<String> hosts) {
    for (var i = 0; i < hosts.size(); i++) {
      if (!isHostWithPort(hosts.get(i))) {
        problems.add(
            invalid(
                "privateHosts[" + i + "]",
                "must be a host name or an address, with or without a port, such as intranet,"
                    + " 10.0.0.7:8080 or [fd00::7]; found "
                    + quoted(hosts.get(i))));
      }
    }
    return hosts.stream()
        .map(host -> host.toLowerCase(Locale.ROOT))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static boolean isHostWithPort(String text) {
    var parts = HOST_AND_PORT.matcher(text);
    if (!parts.matches()) {
      return false;
    }
    var port = parts.group("port");
    return port == null || (Integer.parseInt(port) >= 1 && Integer.parseInt(port) <= PORT_MAX);
  }

  private Set<String> origins(List<String> origins) {
    for (var i = 0; i < origins.size(); i++) {
      var origin = origins.get(i);
      if (!ORIGIN.matcher(origin).matches()) {
        var bare = origin.replaceFirst("/+$", "");
        var meant = bare.contains("://") ? bare : "https://" + bare;
        problems.add(
            invalid(
                "allowedOrigins[" + i + "]",
                "must be scheme://host or scheme://host:port, without a path; found "
                    + quoted(origin)
                    + (ORIGIN.matcher(meant).matches() ? ". Did you mean " + meant + "?" : "")));
      }
    }
    return Set.copyOf(origins);
  }

  private List<ApiToken> tokens(@Nullable AuthSection auth) {
    if (auth == null || auth.tokens() == null) {
      return List.of();
    }
    if (auth.tokens().isEmpty()) {
      problems.add(invalid("auth.tokens", "at least one token is needed; remove auth to use none"));
    }
    var tokens = new ArrayList<ApiToken>();
    for (var i = 0; i < auth.tokens().size(); i++) {
      var section = auth.tokens().get(i);
      var index = "[" + i + "]";
      var own =
          problems
              .under("auth")
              .under(ConfigTree.join("tokens", or(section.name(), index)), "tokens" + index);
      // Two tokens, so that an error of the name does not hide an error of the hash.
      own.collectValid("name", () -> new ApiToken(or(section.name(), ""), ANY_HASH));
      var token =
          own.collectValid(
              "sha256",
              () ->
                  new ApiToken(
                      or(section.name(), index),
                      or(section.sha256(), ""),
                      or(section.internal(), true)));
      if (section.name() == null) {
        problems.markUnread("auth.tokens");
      }
      if (token != null) {
        tokens.add(token);
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
        problems.add(
            invalid(
                "workspaces[" + i + "]",
                (Files.exists(folder) ? "this is not a folder: " : "there is no folder ")
                    + folder));
      }
      folders.add(folder);
    }
    return folders;
  }

  private dev.parley.task.TaskLimits work(@Nullable LimitSection limits) {
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

  private WhenLapsed whenLapsed(@Nullable String name, WhenLapsed usual) {
    if (name == null) {
      return usual;
    }
    var choices = Arrays.asList(WhenLapsed.values());
    return problems.collectOr(
        usual,
        () ->
            choices.stream()
                .filter(choice -> choice.wire().equals(name))
                .findFirst()
                .orElseThrow(
                    () ->
                        notOneOf(
                            "limits.whenInputLapses",
                            name,
                            choices.stream().map(WhenLapsed::wire).toList())));
  }

  private LoopLimits loop(LimitSection limits, LoopLimits usual) {
    return new LoopLimits(
        count("limits.maxTurns", limits.maxTurns(), usual.maxTurns()),
        limits.maxTokens() == null
            ? usual.maxTokens()
            : count("limits.maxTokens", limits.maxTokens(), 1),
        usual.maxFailedTurns(),
        usual.historyMessages(),
        historyTokens(limits, usual.historyTokens()));
  }

  /// Uses the smaller one of the limits in tokens and in characters.
  private int historyTokens(LimitSection limits, int usual) {
    var tokens = count("limits.historyTokens", limits.historyTokens(), usual);
    var characters = limits.historyCharacters();
    return characters == null
        ? tokens
        : Math.min(tokens, Math.max(1, count("limits.historyCharacters", characters, 1) / 4));
  }

  private Duration time(String name, @Nullable Duration time, Duration usual, Duration max) {
    if (time != null && (time.toMillis() < 1 || time.compareTo(max) > 0)) {
      problems.add(invalid(name, "must be between 1ms and " + max.toHours() + "h"));
      return usual;
    }
    return or(time, usual);
  }

  private int count(String name, @Nullable Integer number, int usual) {
    if (number != null && number < 1) {
      problems.add(invalid(name, "must be at least 1; found " + number));
      return usual;
    }
    return number == null ? usual : number;
  }

  static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
