package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigProblem.quoted;
import static dev.parley.server.ConfigProblem.suggestion;
import static dev.parley.task.TaskLimits.INPUT_TIMEOUT_MAX;
import static dev.parley.task.TaskLimits.TIMEOUT_MAX;

import dev.parley.api.ApprovalPolicy.ApprovalSettings;
import dev.parley.api.a2a.A2aSettings;
import dev.parley.encryption.MasterKeyCommand;
import dev.parley.encryption.MasterKeyFile;
import dev.parley.http.ApiTokens;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.HttpLimits;
import dev.parley.http.HttpSettings;
import dev.parley.server.ConfigFile.A2aSection;
import dev.parley.server.ConfigFile.ApprovalSection;
import dev.parley.server.ConfigFile.AuthSection;
import dev.parley.server.ConfigFile.EncryptionSection;
import dev.parley.server.ConfigFile.LimitSection;
import dev.parley.server.ConfigFile.TokenSection;
import dev.parley.server.ConfigFile.VaultSection;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskLimits.LoopLimits;
import dev.parley.task.TaskLimits.TreeLimits;
import dev.parley.task.WhenLapsed;
import dev.parley.tool.ShellTool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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

  /// The section that defines the names of callers.
  private static final String TOKENS = "auth.tokens";

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
    var config = build(file, path);
    problems.throwIfAny(text);
    return config;
  }

  /// Returns the configuration. Defaults replace all values with errors, which are collected.
  private Config build(ConfigFile file, @Nullable Path path) {
    var models =
        new ModelConfigReader(processEnvironment.environment(), extensions.models())
            .read(file.models(), problems);
    var servers =
        new McpConfigReader(processEnvironment.environment(), processEnvironment.folder())
            .read(file.mcpServers(), problems);
    var reader =
        new AgentConfigReader(
            models.keySet(),
            new CliConfigReader(processEnvironment.environment(), servers),
            extensions);
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
        a2a(file.a2a()),
        approvals(file),
        BudgetConfigReader.read(or(file.budgets(), List.of()), problems),
        new ContainmentReader(
                file, processEnvironment.home(), processEnvironment.folder(), problems)
            .read(file, path, agents, reader::problemsOf),
        encryption(file.encryption()),
        EdgeConfigReader.audit(file),
        new SignInConfigReader(problems.under("signIn")).read(file.signIn()));
  }

  private A2aSettings a2a(@Nullable A2aSection section) {
    if (section == null) {
      return A2aSettings.DEFAULTS;
    }
    return new A2aSettings(
        isOther("a2a.version", section.version(), "1.0.1", "1.0.0"),
        isOther("a2a.card", section.card(), "hybrid", "pure"),
        or(section.idempotent(), true),
        or(section.kagentMetadata(), true),
        or(section.requiredExtensions(), List.of()),
        or(section.inputModes(), List.of()),
        Boolean.TRUE.equals(section.privateWebhooks()));
  }

  /// Returns true if the value is `other`, and false if it is `usual`, missing or invalid.
  private boolean isOther(String name, @Nullable String value, String usual, String other) {
    if (value != null && !value.equals(usual) && !value.equals(other)) {
      problems.add(notOneOf(name, value, List.of(usual, other)));
    }
    return other.equals(value);
  }

  private ApprovalSettings approvals(ConfigFile file) {
    var auth = file.auth();
    var tokens = auth == null || auth.tokens() == null ? List.<TokenSection>of() : auth.tokens();
    var section = file.approvals();
    var strict = section != null && isOther("approvals.mode", section.mode(), "standard", "strict");
    var none = new HashSet<String>();
    for (var token : tokens) {
      var name = token.name();
      if (name != null && Boolean.FALSE.equals(token.approve())) {
        none.add(name);
      }
    }
    if (strict && tokens.isEmpty() && !loginRequired(file)) {
      problems.addReference(
          invalid(
              "approvals.mode",
              "strict needs auth.tokens, because only callers with a token can approve"),
          TOKENS);
    } else if (strict && none.size() == tokens.size() && !loginRequired(file)) {
      problems.addReference(
          invalid("approvals.mode", "strict needs a token without approve: false"), TOKENS);
    }
    var callers =
        section == null
            ? Set.<String>of()
            : loginRequired(file)
                // They may be people or keys, which the configuration does not know.
                ? Set.copyOf(or(section.a2aCallers(), List.<String>of()))
                : callers(section, tokens);
    return new ApprovalSettings(strict, callers, none, ApprovalSettings.DEFAULTS.ownProcess());
  }

  private Set<String> callers(ApprovalSection section, List<TokenSection> tokens) {
    var callers = or(section.a2aCallers(), List.<String>of());
    var names =
        tokens.isEmpty()
            ? List.of(ApiTokens.LOCAL)
            : tokens.stream().map(TokenSection::name).filter(Objects::nonNull).toList();
    for (var i = 0; i < callers.size(); i++) {
      var caller = callers.get(i);
      if (!names.contains(caller)) {
        problems.addReference(
            invalid(
                "approvals.a2aCallers[" + i + "]",
                tokens.isEmpty()
                    ? "unknown caller; without auth.tokens the only caller is " + ApiTokens.LOCAL
                    : "there is no token with the name " + caller + suggestion(caller, names)),
            TOKENS);
      }
    }
    return Set.copyOf(callers);
  }

  private Config.VaultConfig vault(@Nullable VaultSection section) {
    var store = section == null ? null : section.store();
    var key = section == null ? null : section.key();
    var inMemory = isOther("vault.store", store, "file", "memory");
    if (inMemory && key != null) {
      problems.add(invalid("vault.key", "is not allowed for a vault in memory"));
    }
    return new Config.VaultConfig(
        inMemory, key == null ? processEnvironment.environment().get("PARLEY_VAULT_KEY") : key);
  }

  private Config.EncryptionConfig encryption(@Nullable EncryptionSection section) {
    if (section == null) {
      return Config.EncryptionConfig.OFF;
    }
    var key = section.masterKey();
    var file = key == null ? null : key.file();
    var command = key == null ? null : key.command();
    if ((file == null) == (command == null)) {
      problems.add(
          invalid("encryption.masterKey", "needs either a file or a command, and not both"));
      return Config.EncryptionConfig.OFF;
    }
    if (command != null && command.isEmpty()) {
      problems.add(invalid("encryption.masterKey.command", "must name a program"));
      return Config.EncryptionConfig.OFF;
    }
    return new Config.EncryptionConfig(
        command != null
            ? new MasterKeyCommand(command)
            : new MasterKeyFile(processEnvironment.folder().resolve(Objects.requireNonNull(file))));
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
            usual.bodyTime(),
            count(
                "limits.connectionsPerAddress",
                file.limits() == null ? null : file.limits().connectionsPerAddress(),
                usual.connectionsPerAddress()),
            count(
                "limits.anonymousRequestsPerMinute",
                file.limits() == null ? null : file.limits().anonymousRequestsPerMinute(),
                usual.anonymousRequestsPerMinute()));
    return new HttpSettings(
        HOST,
        PORT,
        hosts(or(file.allowedHosts(), List.of())),
        origins(or(file.allowedOrigins(), List.of())),
        tokens(file.auth()),
        or(file.heartbeat(), HEARTBEAT),
        httpLimits,
        new EdgeConfigReader(processEnvironment.folder(), problems).read(file),
        loginRequired(file));
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

  private static boolean loginRequired(ConfigFile file) {
    var auth = file.auth();
    return file.signIn() != null || (auth != null && Boolean.TRUE.equals(auth.required()));
  }

  private List<ApiToken> tokens(@Nullable AuthSection auth) {
    if (auth == null || auth.tokens() == null) {
      return List.of();
    }
    if (auth.tokens().isEmpty()) {
      problems.add(invalid(TOKENS, "at least one token is needed; remove auth to use none"));
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
                      or(section.internal(), true),
                      or(section.administer(), false)));
      if (section.name() == null) {
        problems.markUnread(TOKENS);
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

  private TaskLimits work(@Nullable LimitSection limits) {
    var usual = TaskLimits.DEFAULT;
    if (limits == null) {
      return usual;
    }
    return new TaskLimits(
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
    return problems.collectOr(
        usual, () -> ConfigProblem.choice("limits.whenInputLapses", name, WhenLapsed.class));
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
}
