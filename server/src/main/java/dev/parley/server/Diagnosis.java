package dev.parley.server;

import dev.parley.a2a.remote.A2aAgent;
import dev.parley.a2a.remote.RemoteSettings;
import dev.parley.door.Metrics;
import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.mcp.Pace;
import dev.parley.mcp.Tokens;
import dev.parley.model.Bounds;
import dev.parley.model.ModelSettings;
import dev.parley.model.Prompt;
import dev.parley.model.Reply;
import dev.parley.model.Retry;
import dev.parley.model.Sink;
import dev.parley.model.Thought;
import dev.parley.net.AddressPolicy;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.proxy.ProxySettings;
import dev.parley.proxy.Remote;
import dev.parley.tool.process.Children;
import dev.parley.tool.process.ProgramPath;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/// Checks that the models, MCP servers and remote agents of a configuration work, by contacting
/// them. It starts no server and does not use the data folder.
public final class Diagnosis {

  /// The time limit of one check.
  public static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final Pattern UNKNOWN_MODEL =
      Pattern.compile(
          ": 404|: .*model.{0,80}(?:not found|not exist|unknown|invalid)|no such model",
          Pattern.CASE_INSENSITIVE);

  /// The smallest limit that all providers accept.
  private static final int ANSWER_TOKENS = 16;

  /// The severity of a finding.
  public enum Grade {
    OK,
    WARNING,
    FAILURE
  }

  /// The result of a check, with advice.
  public record Finding(Grade grade, String text) {}

  /// A check: its subject and target, for display, and the code to run.
  public record Check(String subject, String target, Callable<Finding> run) {

    /// Runs the check, within [#PATIENCE].
    public Finding finding() throws InterruptedException {
      return limited(run, PATIENCE);
    }
  }

  private final Config config;
  private final Duration patience;

  public Diagnosis(Config config) {
    this(config, PATIENCE);
  }

  Diagnosis(Config config, Duration patience) {
    this.config = config;
    this.patience = patience;
  }

  /// Returns all checks in the order of the configuration: models, MCP servers, agents.
  public List<Check> checks() {
    var checks = new ArrayList<Check>();
    var models = new LinkedHashMap<>(config.models());
    models.forEach(
        (name, model) -> checks.add(check("model " + name, model.title(), () -> model(model))));
    for (var server : config.mcpServers()) {
      checks.add(check("MCP " + server.name(), title(server), () -> mcp(server)));
    }
    for (var agent : config.agents()) {
      switch (agent.kind()) {
        case Config.Kind.A2a(var settings) ->
            checks.add(
                check("agent " + agent.id(), settings.url().toString(), () -> remote(settings)));
        case Config.Kind.Proxy(var settings) ->
            checks.add(
                check("agent " + agent.id(), settings.url().toString(), () -> proxy(settings)));
        case Config.Kind.Llm _, Config.Kind.Cli _, Config.Kind.Conformance _ -> {}
      }
    }
    return checks;
  }

  private Check check(String subject, String target, Callable<Finding> run) {
    return new Check(subject, target, () -> limited(run, patience));
  }

  private static String title(McpServer server) {
    return switch (server.endpoint()) {
      case McpServer.Stdio(var command, _, _) -> command.getFirst();
      case McpServer.Http http -> http.url().toString();
    };
  }

  /// Sends a very short request to the model, with the settings that agents use.
  private Finding model(ModelConfig config) throws InterruptedException {
    return switch (config) {
      case ModelConfig.Offline _ ->
          new Finding(Grade.OK, "the offline model needs no network and no key");
      case ModelConfig.Anthropic(var settings, var bounds) ->
          ask(new ModelConfig.Anthropic(small(settings), quick(bounds)));
      case ModelConfig.OpenAi(var api, var settings, var bounds) ->
          ask(new ModelConfig.OpenAi(api, small(settings), quick(bounds)));
    };
  }

  private static ModelSettings small(ModelSettings settings) {
    return new ModelSettings(
        settings.model(), settings.baseUrl(), settings.apiKey(), ANSWER_TOKENS, 0, null);
  }

  private Bounds quick(Bounds bounds) {
    return new Bounds(
        patience, patience, 1, Duration.ZERO, bounds.lineBytesMax(), bounds.replyBytesMax());
  }

  private static Finding ask(ModelConfig config) throws InterruptedException {
    var prompt =
        new Prompt(
            "Answer with one word.",
            List.of(new Prompt.Part.Said(Role.USER, "Say ok.")),
            List.of(),
            null);
    try (var models = new Models(Map.of("checked", config), Server.Sources.real(), new Metrics())) {
      return switch (models.named("checked").ask(prompt, SILENT)) {
        case Reply.Answered _ -> new Finding(Grade.OK, config.title() + " answers");
        // A model that thinks first may reach the low token limit. It works all the same.
        case Reply.Failed(var code, _, _, _) when code == ErrorCode.LIMIT ->
            new Finding(Grade.OK, config.title() + " answers");
        case Reply.Failed(var code, var message, _, _) ->
            new Finding(Grade.FAILURE, config.title() + ": " + explained(code, message));
      };
    }
  }

  private static String explained(ErrorCode code, String message) {
    return switch (code) {
      case AUTH -> "the key is rejected; check apiKey. " + message;
      case RATE_LIMITED -> "the key is accepted, but its limit is reached. " + message;
      case INVALID_INPUT ->
          (UNKNOWN_MODEL.matcher(message).find()
                  ? "the model is not known there; check model and baseUrl. "
                  : "the request is rejected; check model. ")
              + message;
      default -> message;
    };
  }

  /// Connects to the server and lists its tools.
  private Finding mcp(McpServer server) throws IOException, InterruptedException {
    if (server.endpoint() instanceof McpServer.Stdio(var command, var environment, var folder)
        && ProgramPath.find(command.getFirst(), environment, folder).isEmpty()) {
      return new Finding(
          Grade.FAILURE, "there is no program " + command.getFirst() + "; check command");
    }
    var records = Files.createTempDirectory("parley-doctor");
    var children = new Children(records, () -> Server.Sources.real().ids().get().toString());
    var pace =
        new Pace(
            patience,
            Pace.USUAL.retryMax(),
            Pace.USUAL.retryMax(),
            Pace.USUAL.end(),
            Pace.USUAL.healthy(),
            Pace.USUAL.fresh());
    var addresses = new AddressPolicy(config.outside().privateHosts());
    var parts = new McpServers.Parts(children, Tokens.NONE, pace, "doctor", addresses);
    try (var servers = new McpServers(List.of(server), parts).start()) {
      return switch (servers.check(server.name())) {
        case McpServers.Checked.Up(var tools) ->
            new Finding(Grade.OK, title(server) + " is up, with " + tools + " tools");
        case McpServers.Checked.SignInNeeded _ when authorized(server) ->
            new Finding(
                Grade.FAILURE, title(server) + " rejects the configured headers; check them");
        case McpServers.Checked.SignInNeeded _ ->
            new Finding(
                Grade.WARNING,
                title(server) + " requires a sign-in; an agent asks for it at the first use");
        case McpServers.Checked.Down(var reason) -> new Finding(Grade.FAILURE, reason);
      };
    } finally {
      children.close();
      remove(records);
    }
  }

  private static boolean authorized(McpServer server) {
    return server.endpoint() instanceof McpServer.Http http && http.authorized();
  }

  private static void remove(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (var file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(folder);
  }

  /// Fetches the agent card.
  private static Finding remote(RemoteSettings settings) throws InterruptedException {
    try (var http = new Remote()) {
      var endpoint = A2aAgent.endpoint(settings, http, Server.Sources.real().clock());
      return new Finding(Grade.OK, "its card is readable; it answers at " + endpoint);
    } catch (IOException unusable) {
      return new Finding(Grade.FAILURE, settings.url() + ": " + unusable.getMessage());
    }
  }

  /// Sends a request to the service. Any response below status 500 shows that it is running.
  private Finding proxy(ProxySettings settings) throws InterruptedException {
    try (var http = HttpClient.newBuilder().connectTimeout(patience).build()) {
      var health = settings.url().resolve("/health");
      var request = HttpRequest.newBuilder(health).timeout(patience).GET().build();
      var status = http.send(request, BodyHandlers.discarding()).statusCode();
      return status >= 500
          ? new Finding(Grade.FAILURE, health + " answers with status " + status)
          : new Finding(Grade.OK, settings.url() + " answers");
    } catch (IOException unreachable) {
      return new Finding(Grade.FAILURE, "cannot reach " + settings.url() + "; check url");
    }
  }

  private static Finding limited(Callable<Finding> check, Duration patience)
      throws InterruptedException {
    var task = new FutureTask<>(check);
    var thread = Thread.ofVirtual().name("doctor").start(task);
    try {
      return task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException slow) {
      return new Finding(Grade.FAILURE, "no answer within " + patience.toSeconds() + " s");
    } catch (ExecutionException failed) {
      return new Finding(Grade.FAILURE, "the check failed: " + failed.getCause());
    } finally {
      thread.interrupt();
    }
  }

  private static final Sink SILENT =
      new Sink() {
        @Override
        public void text(String piece) {}

        @Override
        public void thinking(String piece) {}

        @Override
        public void thought(Thought thought) {}

        @Override
        public void retry(Retry retry) {}
      };
}
