package dev.parley.cli;

import dev.parley.mcp.McpServer;
import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// Codex without a terminal. It asks nobody: its sandbox says what it may do.
final class CodexDialect implements Dialect {

  private final CliSettings settings;

  CodexDialect(CliSettings settings) {
    this.settings = settings;
  }

  @Override
  public LineParser parser(Errand errand) {
    var resume = errand.resume();
    return new CodexParser(
        settings.model() == null ? "codex" : settings.model(),
        resume == null ? null : resume.totals());
  }

  @Override
  public Launch launch(Errand errand) {
    var words = new ArrayList<>(settings.command());
    words.addAll(List.of("exec", "--json", "--skip-git-repo-check"));
    var free = settings.policy().standard() == Permission.ALLOW;
    words.addAll(List.of("-s", free ? "workspace-write" : "read-only"));
    if (settings.model() != null) {
      words.addAll(List.of("-m", settings.model()));
    }
    settings.mcp().forEach(server -> mcp(server, words));
    words.addAll(settings.args());
    var resume = errand.resume();
    if (resume != null) {
      words.addAll(List.of("resume", resume.session()));
    }
    words.add("-");
    var instructions =
        settings.instructions() == null || resume != null ? "" : settings.instructions() + "\n\n";
    return new Launch(words, instructions + errand.prompt(), false);
  }

  /// JSON's strings and lists of strings are TOML's, too.
  private static void mcp(McpServer server, List<String> words) {
    var name = "mcp_servers." + server.name() + ".";
    switch (server.endpoint()) {
      case McpServer.Stdio(var command, var environment, _) -> {
        words.addAll(List.of("-c", name + "command=" + quoted(command.getFirst())));
        var rest = command.stream().skip(1).map(CodexDialect::quoted);
        words.addAll(
            List.of("-c", name + "args=" + rest.collect(Collectors.joining(", ", "[", "]"))));
        environment.forEach(
            (key, value) -> words.addAll(List.of("-c", name + "env." + key + "=" + quoted(value))));
      }
      case McpServer.Http(var url, _, _) ->
          words.addAll(List.of("-c", name + "url=" + quoted(url.toString())));
    }
  }

  private static String quoted(String text) {
    return Json.mapper().writeValueAsString(text);
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean lost(String message) {
    return message.contains("no rollout found") || message.contains("No saved session");
  }
}
