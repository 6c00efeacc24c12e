package dev.parley.external.cli;

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
record ClaudeAdapter(CliSettings settings) implements ProgramAdapter {

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

  @Override
  public LineParser parser(ProgramRequest programRequest) {
    return new ClaudeParser();
  }

  @Override
  public ProgramLaunch launch(ProgramRequest programRequest, Path folder) {
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
      words.addAll(List.of("--mcp-config", ProgramLaunch.CONFIG, "--strict-mcp-config"));
    }
    if (settings.maxTurns() != null) {
      words.addAll(List.of("--max-turns", settings.maxTurns().toString()));
    }
    var resumedSession = programRequest.resume();
    if (resumedSession != null) {
      words.addAll(List.of("--resume", resumedSession.session()));
      if (resumedSession.mark() != null) {
        words.addAll(List.of("--resume-session-at", resumedSession.mark()));
      }
      if (resumedSession.fork()) {
        words.add("--fork-session");
      }
    }
    words.addAll(settings.args());
    return new ProgramLaunch(
        words,
        user(programRequest.prompt()),
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
        case McpServer.StdioEndpoint(var command, var environment, _) -> {
          one.put("type", "stdio").put("command", command.getFirst());
          command.stream().skip(1).forEach(one.putArray("args")::add);
          var env = one.putObject("env");
          environment.forEach(env::put);
        }
        case McpServer.HttpEndpoint(var url, var headers, _) -> {
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
  public boolean forks() {
    return true;
  }

  @Override
  public boolean isSessionLost(String message) {
    return message.contains("No conversation found")
        || message.contains("No message found with message.uuid");
  }

  @Override
  public Optional<String> mainArgument(String tool) {
    return Optional.ofNullable(MAIN.get(tool));
  }

  @Override
  public Optional<String> withdrawnQuestion(String line) {
    return line.contains("\"control_cancel_request\"")
        ? JsonLine.parse(line)
            .filter(json -> json.path("type").asString("").equals("control_cancel_request"))
            .map(json -> json.path("request_id").asString(""))
        : Optional.empty();
  }

  @Override
  public Optional<String> interruptLine() {
    var line = Json.object().put("type", "control_request").put("request_id", "parley-interrupt");
    line.putObject("request").put("subtype", "interrupt");
    return Optional.of(line + "\n");
  }
}
