package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.fail;

import dev.parley.agent.ToolPolicy;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.model.FakeModelServer.WireApi;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/// The real command-line agents from npm, configured to use a stand-in model and their own home
/// folder.
public final class RealPrograms {

  private RealPrograms() {}

  /// A stand-in for the models of Claude Code and Codex. It calls a tool if the last message
  /// contains `PLEASE-CALL` (a tool that changes files if it also contains `TOUCH`), holds its
  /// answer if the message contains `HANG`, and otherwise answers.
  public static FakeModelServer model() {
    var calls = new AtomicInteger();
    return FakeModelServer.answering(
        receivedRequest -> {
          var field = receivedRequest.wire() == WireApi.RESPONSES ? "input" : "messages";
          var body = receivedRequest.body().path(field).toString();
          var asked = Math.max(body.lastIndexOf("PLEASE-CALL"), body.lastIndexOf("PLAIN"));
          var last = asked < 0 ? body : body.substring(asked);
          var back = last.contains("tool_result") || last.contains("function_call_output");
          if (last.startsWith("PLEASE-CALL") && !back) {
            var id = "call_" + calls.incrementAndGet();
            return receivedRequest.wire() == WireApi.RESPONSES
                ? FakeModelAnswer.calling(
                    id,
                    "exec_command",
                    last.contains("TOUCH")
                        ? "{\"cmd\":\"touch made\"}"
                        : "{\"cmd\":\"echo tool-ran-42\"}")
                : FakeModelAnswer.calling(
                    id, "Bash", "{\"command\":\"touch made\",\"description\":\"d\"}");
          }
          var answer = FakeModelAnswer.saying("Hello", " from the model");
          return body.contains("HANG") ? answer.ending(FakeModelAnswer.Ending.HOLD) : answer;
        });
  }

  static CliSettings claude(Path folder, FakeModelServer model) {
    var environment = environment(folder);
    environment.put("ANTHROPIC_API_KEY", "dummy");
    environment.put("ANTHROPIC_BASE_URL", model.url().toString());
    environment.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    var script = module("@anthropic-ai/claude-code/cli-wrapper.cjs");
    return CliSettings.of(CliProgram.CLAUDE, List.of("node", script.toString()), environment);
  }

  static CliSettings codex(Path folder, FakeModelServer model) {
    var environment = environment(folder);
    environment.put("OPENAI_API_KEY", "dummy");
    var provider =
        "model_providers.fake={name=\"fake\",base_url=\""
            + model.url()
            + "/v1\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}";
    return new CliSettings(
        CliProgram.CODEX,
        List.of("node", module("@openai/codex/bin/codex.js").toString()),
        List.of("-c", provider, "-c", "model_provider=\"fake\""),
        "fake-1",
        null,
        List.of(),
        List.of(),
        List.of(),
        null,
        environment,
        LineMapping.DEFAULT,
        List.of(),
        CliSettings.SILENCE_TIMEOUT,
        ToolPolicy.DEFAULT);
  }

  static CliSettings gemini(Path folder, GeminiStandIn model) {
    var environment = environment(folder);
    environment.put("GEMINI_API_KEY", "dummy");
    environment.put("GOOGLE_GEMINI_BASE_URL", model.url().toString());
    try {
      var settings = Files.createDirectories(folder.resolve("home/.gemini"));
      Files.writeString(
          settings.resolve("settings.json"),
          "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},"
              + "\"privacy\":{\"usageStatisticsEnabled\":false}}");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    var script = module("@google/gemini-cli/bundle/gemini.js");
    return CliSettings.of(CliProgram.GEMINI, List.of("node", script.toString()), environment);
  }

  private static Map<String, String> environment(Path folder) {
    var environment = new HashMap<String, String>();
    environment.put("PATH", System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
    environment.put("HOME", folder.resolve("home").toString());
    return environment;
  }

  /// A file of a program, which must be installed.
  public static Path module(String name) {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    var file = peers.resolve("cli/node_modules").resolve(name);
    if (!Files.isReadable(file)) {
      fail("%s is missing: ./check --long installs it, or npm ci in the folder peers/cli", file);
    }
    return file;
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }
}
