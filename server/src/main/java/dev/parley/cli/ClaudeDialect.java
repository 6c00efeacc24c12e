package dev.parley.cli;

import dev.parley.mcp.McpServer;
import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Claude Code without a terminal: JSON lines in both directions, including requests for
/// permission.
final class ClaudeDialect implements Dialect {

  private static final Map<String, String> MAIN =
      Map.ofEntries(
          Map.entry("Bash", "command"),
          Map.entry("Read", "file_path"),
          Map.entry("Write", "file_path"),
          Map.entry("Edit", "file_path"),
          Map.entry("NotebookEdit", "notebook_path"),
          Map.entry("Glob", "pattern"),
          Map.entry("Grep", "pattern"),
          Map.entry("WebFetch", "url"),
          Map.entry("WebSearch", "query"));

  private final CliSettings settings;

  ClaudeDialect(CliSettings settings) {
    this.settings = settings;
  }

  @Override
  public LineParser parser(Errand errand) {
    return new ClaudeParser();
  }

  @Override
  public Launch launch(Errand errand, Path folder) {
    var words = new ArrayList<>(settings.command());
    words.addAll(
        List.of(
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--input-format",
            "stream-json",
            "--permission-prompt-tool",
            "stdio"));
    if (settings.model() != null) {
      words.addAll(List.of("--model", settings.model()));
    }
    if (settings.instructions() != null) {
      words.addAll(List.of("--append-system-prompt", settings.instructions()));
    }
    if (!settings.allowedTools().isEmpty()) {
      words.addAll(List.of("--allowedTools", String.join(",", settings.allowedTools())));
    }
    if (!settings.disallowedTools().isEmpty()) {
      words.addAll(List.of("--disallowedTools", String.join(",", settings.disallowedTools())));
    }
    if (!settings.mcp().isEmpty()) {
      // The configuration may contain secrets, and every user can read the arguments of a process.
      words.addAll(List.of("--mcp-config", Launch.CONFIG, "--strict-mcp-config"));
    }
    if (settings.maxTurns() != null) {
      words.addAll(List.of("--max-turns", settings.maxTurns().toString()));
    }
    var resume = errand.resume();
    if (resume != null) {
      words.addAll(List.of("--resume", resume.session()));
      if (resume.place() != null) {
        words.addAll(List.of("--resume-session-at", resume.place()));
      }
      if (resume.fork()) {
        words.add("--fork-session");
      }
    }
    words.addAll(settings.args());
    return new Launch(
        words,
        user(errand.prompt()),
        true,
        settings.mcp().isEmpty() ? null : mcp(settings.mcp()).toString());
  }

  private static String user(String prompt) {
    var line = Json.object().put("type", "user");
    var message = line.putObject("message").put("role", "user");
    message.putArray("content").addObject().put("type", "text").put("text", prompt);
    return line + "\n";
  }

  private static ObjectNode mcp(List<McpServer> servers) {
    var config = Json.object();
    var all = config.putObject("mcpServers");
    for (var server : servers) {
      var one = all.putObject(server.name());
      switch (server.endpoint()) {
        case McpServer.Stdio(var command, var environment, _) -> {
          one.put("type", "stdio").put("command", command.getFirst());
          command.stream().skip(1).forEach(one.putArray("args")::add);
          var env = one.putObject("env");
          environment.forEach(env::put);
        }
        case McpServer.Http(var url, var headers, _) -> {
          one.put("type", "http").put("url", url.toString());
          var sent = one.putObject("headers");
          headers.forEach(sent::put);
        }
      }
    }
    return config;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean goesBack() {
    return true;
  }

  @Override
  public boolean lost(String message) {
    return message.contains("No conversation found")
        || message.contains("No message found with message.uuid");
  }

  @Override
  public Optional<String> mainArgument(String tool) {
    return Optional.ofNullable(MAIN.get(tool));
  }

  @Override
  public Optional<String> withdraws(String line) {
    return line.contains("\"control_cancel_request\"")
        ? JsonLine.parse(line)
            .filter(json -> json.path("type").asString("").equals("control_cancel_request"))
            .map(json -> json.path("request_id").asString(""))
        : Optional.empty();
  }

  @Override
  public Optional<String> interrupt() {
    var line = Json.object().put("type", "control_request").put("request_id", "parley-interrupt");
    line.putObject("request").put("subtype", "interrupt");
    return Optional.of(line + "\n");
  }
}
