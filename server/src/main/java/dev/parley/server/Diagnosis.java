package dev.parley.server;

import dev.parley.external.a2a.A2aAgent;
import dev.parley.external.a2a.A2aRemoteSettings;
import dev.parley.external.proxy.ProxySettings;
import dev.parley.http.Metrics;
import dev.parley.mcp.McpDependencies;
import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.model.ModelLimits;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSettings;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.model.Prompt;
import dev.parley.net.AddressPolicy;
import dev.parley.net.ConnectionFailure;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.runtime.SystemThreads;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ProgramPath;
import java.io.IOException;
import java.net.http.HttpRequest;
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
  public enum DiagnosisGrade {
    OK,
    WARNING,
    FAILURE
  }

  /// The result of a check, with advice.
  public record DiagnosisFinding(DiagnosisGrade grade, String text) {}

  /// A check: its subject and target, for display, and the code to run.
  public record DiagnosisCheck(String subject, String target, Callable<DiagnosisFinding> run) {

    /// Runs the check, within [#PATIENCE].
    public DiagnosisFinding finding() throws InterruptedException {
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
  public List<DiagnosisCheck> checks() {
    var checks = new ArrayList<DiagnosisCheck>();
    var models = new LinkedHashMap<>(config.models());
    models.forEach(
        (name, model) -> checks.add(check("model " + name, model.title(), () -> model(model))));
    for (var server : config.mcpServers()) {
      checks.add(check("MCP " + server.name(), title(server), () -> mcp(server)));
    }
    for (var agent : config.agents()) {
      switch (agent.kind()) {
        case AgentKind.A2a(var settings) ->
            checks.add(
                check("agent " + agent.id(), settings.url().toString(), () -> remote(settings)));
        case AgentKind.Proxy(var settings) ->
            checks.add(
                check("agent " + agent.id(), settings.url().toString(), () -> proxy(settings)));
        case AgentKind.Llm _, AgentKind.Cli _, AgentKind.Provided _ -> {}
      }
    }
    return checks;
  }

  private DiagnosisCheck check(String subject, String target, Callable<DiagnosisFinding> run) {
    return new DiagnosisCheck(subject, target, () -> limited(run, patience));
  }

  private static String title(McpServer server) {
    return switch (server.endpoint()) {
      case McpServer.StdioEndpoint(var command, _, _) -> command.getFirst();
      case McpServer.HttpEndpoint httpEndpoint -> httpEndpoint.url().toString();
    };
  }

  /// Sends a very short request to the model, with the settings that agents use.
  private DiagnosisFinding model(ModelConfig config) throws InterruptedException {
    return switch (config) {
      case ModelConfig.Provided provided when provided.standIn() ->
          new DiagnosisFinding(
              DiagnosisGrade.OK, provided.title() + " needs no network and no key");
      case ModelConfig.Provided _, ModelConfig.Missing _ -> ask(config);
      case ModelConfig.Anthropic(var settings, var modelLimits) ->
          ask(new ModelConfig.Anthropic(small(settings), quick(modelLimits)));
      case ModelConfig.OpenAi(var openAiApi, var settings, var modelLimits) ->
          ask(new ModelConfig.OpenAi(openAiApi, small(settings), quick(modelLimits)));
    };
  }

  private static ModelSettings small(ModelSettings settings) {
    return new ModelSettings(
        settings.model(), settings.baseUrl(), settings.apiKey(), ANSWER_TOKENS, 0, null);
  }

  private ModelLimits quick(ModelLimits modelLimits) {
    return new ModelLimits(
        patience,
        patience,
        1,
        Duration.ZERO,
        modelLimits.lineBytesMax(),
        modelLimits.replyBytesMax());
  }

  private static DiagnosisFinding ask(ModelConfig config) throws InterruptedException {
    var prompt =
        new Prompt(
            "Answer with one word.",
            List.of(new Prompt.PromptPart.PromptMessage(Role.USER, "Say ok.")),
            List.of(),
            null);
    try (var http = http()) {
      var models =
          new Models(Map.of("checked", config), Server.ServerSources.real(), http, new Metrics());
      return switch (models.named("checked").ask(prompt, SILENT)) {
        case ModelReply.ModelAnswer _ ->
            new DiagnosisFinding(DiagnosisGrade.OK, config.title() + " answers");
        // A model that thinks first may reach the low token limit. It works all the same.
        case ModelReply.ModelError(var code, _, _, _) when code == ErrorCode.LIMIT ->
            new DiagnosisFinding(DiagnosisGrade.OK, config.title() + " answers");
        case ModelReply.ModelError(var code, var message, _, _) ->
            new DiagnosisFinding(
                DiagnosisGrade.FAILURE, config.title() + ": " + explained(code, message));
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
  private DiagnosisFinding mcp(McpServer server) throws IOException, InterruptedException {
    if (server.endpoint()
            instanceof McpServer.StdioEndpoint(var command, var environment, var folder)
        && ProgramPath.find(command.getFirst(), environment, folder).isEmpty()) {
      return new DiagnosisFinding(
          DiagnosisGrade.FAILURE, "there is no program " + command.getFirst() + "; check command");
    }
    var records = Files.createTempDirectory("parley-doctor");
    var managedProcesses =
        new ManagedProcesses(records, () -> Server.ServerSources.real().ids().get().toString());
    var mcpTimeouts =
        new McpTimeouts(
            patience,
            McpTimeouts.DEFAULT.retryMax(),
            McpTimeouts.DEFAULT.retryMax(),
            McpTimeouts.DEFAULT.shutdown(),
            McpTimeouts.DEFAULT.healthyAfter(),
            McpTimeouts.DEFAULT.toolListMaxAge());
    var addresses = new AddressPolicy(config.toolEnvironment().privateHosts());
    var sources = Server.ServerSources.real();
    var http = http();
    var mcpServersDependencies =
        new McpDependencies(
            managedProcesses,
            McpTokenProvider.NONE,
            mcpTimeouts,
            "doctor",
            addresses,
            http,
            sources.time(),
            sources.threads());
    try (http;
        var servers = new McpServers(List.of(server), mcpServersDependencies).start()) {
      return switch (servers.check(server.name())) {
        case McpServers.ConnectionCheck.Connected(var tools) ->
            new DiagnosisFinding(
                DiagnosisGrade.OK, title(server) + " is up, with " + tools + " tools");
        case McpServers.ConnectionCheck.SignInNeeded _ when authorized(server) ->
            new DiagnosisFinding(
                DiagnosisGrade.FAILURE,
                title(server) + " rejects the configured headers; check them");
        case McpServers.ConnectionCheck.SignInNeeded _ ->
            new DiagnosisFinding(
                DiagnosisGrade.WARNING,
                title(server) + " requires a sign-in; an agent asks for it at the first use");
        case McpServers.ConnectionCheck.ConnectionFailed(var reason) ->
            new DiagnosisFinding(DiagnosisGrade.FAILURE, reason);
      };
    } finally {
      managedProcesses.close();
      remove(records);
    }
  }

  private static boolean authorized(McpServer server) {
    return server.endpoint() instanceof McpServer.HttpEndpoint httpEndpoint
        && httpEndpoint.authorized();
  }

  private static void remove(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (var file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(folder);
  }

  private static OutgoingHttpClient http() {
    var sources = Server.ServerSources.real();
    return new OutgoingHttpClient(sources.time(), sources.threads());
  }

  /// Fetches the agent card.
  private static DiagnosisFinding remote(A2aRemoteSettings settings) throws InterruptedException {
    try (var http = http()) {
      var endpoint = A2aAgent.endpoint(settings, http, Server.ServerSources.real().time());
      return new DiagnosisFinding(
          DiagnosisGrade.OK, "its card is readable; it answers at " + endpoint);
    } catch (IOException unusable) {
      return new DiagnosisFinding(
          DiagnosisGrade.FAILURE, settings.url() + ": " + unusable.getMessage());
    }
  }

  /// Sends a request to the service. Any response below status 500 shows that it is running.
  private DiagnosisFinding proxy(ProxySettings settings) throws InterruptedException {
    var health = settings.url().resolve("/health");
    try (var http = http();
        var response = http.open(HttpRequest.newBuilder(health).build(), patience)) {
      var status = response.status();
      return status >= 500
          ? new DiagnosisFinding(DiagnosisGrade.FAILURE, health + " answers with status " + status)
          : new DiagnosisFinding(DiagnosisGrade.OK, settings.url() + " answers");
    } catch (IOException | TimeoutException unreachable) {
      return new DiagnosisFinding(
          DiagnosisGrade.FAILURE,
          "cannot reach "
              + settings.url()
              + ": "
              + ConnectionFailure.describe(unreachable)
              + "; check url");
    }
  }

  private static DiagnosisFinding limited(Callable<DiagnosisFinding> check, Duration patience)
      throws InterruptedException {
    var task = new FutureTask<>(check);
    var thread = new SystemThreads().start("doctor", task);
    try {
      return task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException slow) {
      return new DiagnosisFinding(
          DiagnosisGrade.FAILURE, "no answer within " + patience.toSeconds() + " s");
    } catch (ExecutionException failed) {
      return new DiagnosisFinding(DiagnosisGrade.FAILURE, "the check failed: " + failed.getCause());
    } finally {
      thread.interrupt();
    }
  }

  private static final ModelSink SILENT =
      new ModelSink() {
        @Override
        public void text(String piece) {}

        @Override
        public void thinking(String piece) {}

        @Override
        public void thought(ModelThought modelThought) {}

        @Override
        public void retry(ModelRetry modelRetry) {}
      };
}
