package dev.parley.external.cli;

import dev.parley.mcp.McpServer;
import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Codex without a terminal: `app-server` if it is to ask for approval, otherwise `exec`, which
/// never asks and relies on its sandbox.
record CodexAdapter(CliSettings settings) implements ProgramAdapter {

  /// Starts an MCP server with the environment from a file: `$0` is the file, `$1` the name of the
  /// server.
  private static final String WITH_ENVIRONMENT = "server=$1; shift; . \"$0\"; exec \"$@\"";

  @Override
  public LineParser parser(ProgramRequest programRequest) {
    var resumedSession = programRequest.resume();
    var model = settings.model() == null ? "codex" : settings.model();
    var totals = resumedSession == null ? null : resumedSession.totals();
    return settings.asks()
        ? new CodexServerParser(model, totals, settings.prompt(programRequest))
        : new CodexParser(model, totals);
  }

  @Override
  public ProgramLaunch launch(ProgramRequest programRequest, Path folder) {
    return settings.asks() ? server(programRequest, folder) : exec(programRequest);
  }

  private ProgramLaunch exec(ProgramRequest programRequest) {
    var words = new ArrayList<>(settings.command());
    words.addAll(List.of("exec", "--json", "--skip-git-repo-check"));
    var free = settings.policy().standard() == Permission.ALLOW;
    words.addAll(List.of("-s", free ? "workspace-write" : "read-only"));
    if (settings.model() != null) {
      words.addAll(List.of("-m", settings.model()));
    }
    settings.mcp().forEach(server -> mcp(server, words));
    words.addAll(settings.args());
    var resumedSession = programRequest.resume();
    if (resumedSession != null) {
      words.addAll(List.of("resume", resumedSession.session()));
    }
    words.add("-");
    return new ProgramLaunch(words, settings.prompt(programRequest), false, environments());
  }

  /// JSON strings and lists of strings are also valid TOML.
  private static void mcp(McpServer server, List<String> words) {
    var name = "mcp_servers." + server.name() + ".";
    switch (server.endpoint()) {
      case McpServer.StdioEndpoint(var command, var environment, _) -> {
        var all =
            environment.isEmpty()
                ? command
                : Stream.concat(
                        Stream.of(
                            "/bin/sh", "-c", WITH_ENVIRONMENT, ProgramLaunch.CONFIG, server.name()),
                        command.stream())
                    .toList();
        words.addAll(List.of("-c", name + "command=" + quoted(all.getFirst())));
        var rest = all.stream().skip(1).map(CodexAdapter::quoted);
        words.addAll(
            List.of("-c", name + "args=" + rest.collect(Collectors.joining(", ", "[", "]"))));
      }
      case McpServer.HttpEndpoint(var url, _, _) ->
          words.addAll(List.of("-c", name + "url=" + quoted(url.toString())));
    }
  }

  private static String quoted(String text) {
    return Json.mapper().writeValueAsString(text);
  }

  /// A shell script that gives each MCP server its own environment. It is passed in a file, because
  /// it may contain secrets, and every user can read the arguments of a process.
  private @Nullable String environments() {
    var script = new StringBuilder();
    for (var server : settings.mcp()) {
      if (server.endpoint() instanceof McpServer.StdioEndpoint(_, var environment, _)
          && !environment.isEmpty()) {
        script.append(shellQuoted(server.name())).append(")\n");
        environment.forEach(
            (key, value) ->
                script.append("export ").append(shellQuoted(key + "=" + value)).append('\n'));
        script.append(";;\n");
      }
    }
    return script.isEmpty() ? null : "case $server in\n" + script + "esac\n";
  }

  private static String shellQuoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  /// Sends all settings over standard input, including the secrets of MCP servers.
  private ProgramLaunch server(ProgramRequest programRequest, Path folder) {
    var words = new ArrayList<>(settings.command());
    words.add("app-server");
    words.addAll(settings.args());
    var hello = Json.object();
    hello.putObject("clientInfo").put("name", "parley").put("title", "Parley").put("version", "1");
    var thread = Json.object();
    var resumedSession = programRequest.resume();
    if (resumedSession != null) {
      thread.put("threadId", resumedSession.session()).put("excludeTurns", true);
    }
    thread.put("cwd", folder.toString());
    // Codex asks before it runs commands that it does not consider harmless; approved commands run
    // in the sandbox.
    thread.put("approvalPolicy", "untrusted").put("sandbox", "workspace-write");
    Json.putPresent(thread, "model", settings.model());
    if (!settings.mcp().isEmpty()) {
      thread.putObject("config").set("mcp_servers", servers());
    }
    return new ProgramLaunch(
        words,
        JsonRpcLines.request(CodexServerParser.INITIALIZE, "initialize", hello)
            + JsonRpcLines.notification("initialized")
            + JsonRpcLines.request(
                CodexServerParser.THREAD,
                resumedSession == null ? "thread/start" : "thread/resume",
                thread),
        true);
  }

  private ObjectNode servers() {
    var all = Json.object();
    for (var server : settings.mcp()) {
      var one = all.putObject(server.name());
      switch (server.endpoint()) {
        case McpServer.StdioEndpoint(var command, var environment, _) -> {
          one.put("command", command.getFirst());
          command.stream().skip(1).forEach(one.putArray("args")::add);
          var env = one.putObject("env");
          environment.forEach(env::put);
        }
        case McpServer.HttpEndpoint(var url, var headers, _) -> {
          one.put("url", url.toString());
          var sent = one.putObject("http_headers");
          headers.forEach(sent::put);
        }
      }
    }
    return all;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean isSessionLost(String message) {
    return message.contains("no rollout found") || message.contains("No saved session");
  }

  @Override
  public Optional<String> withdrawnQuestion(String line) {
    return line.contains("\"serverRequest/resolved\"")
        ? JsonLine.parse(line)
            .filter(json -> json.path("method").asString("").equals("serverRequest/resolved"))
            .map(json -> json.path("params").path("requestId").toString())
        : Optional.empty();
  }
}
