package dev.parley.external.cli;

import dev.parley.mcp.McpServer;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The MCP servers that a task requests: `[a, b]` or `{servers: [{name: a}]}` selects servers of
/// its agent; `{name, command}` or `{name, url}` defines its own.
record TaskMcpServers(List<JsonNode> requested) {

  private static final int SERVERS_MAX = 20;

  TaskMcpServers {
    requested = List.copyOf(requested);
  }

  static TaskMcpServers of(JsonNode wishes) {
    var mcp = wishes.path("mcp");
    return new TaskMcpServers(
        Stream.concat(mcp.valueStream(), mcp.path("servers").valueStream())
            .filter(server -> server.isString() || server.isObject())
            .toList());
  }

  /// The reason why the task may not use these servers, or null.
  @Nullable String problem(CliSettings settings) {
    if (requested.size() > SERVERS_MAX) {
      return "cli.mcp has at most " + SERVERS_MAX + " servers";
    }
    for (var server : requested) {
      var name = name(server);
      var known = settings.mcp().stream().anyMatch(one -> one.name().equals(name));
      if (!isTaskDefined(server)) {
        if (!known) {
          return "this agent has no MCP server \"" + name + "\": name those of its configuration";
        }
        continue;
      }
      if (!settings.supportedOverrides().contains(CliSettings.OWN_MCP)) {
        return "a task may define MCP servers of its own only for cli claude and codex with"
            + " `permission: allow` and no `ask` or `deny` rules: they could bypass such rules";
      }
      if (!name.matches(McpServer.NAME) || known) {
        return "cli.mcp: a server needs a name of its own, of the form " + McpServer.NAME;
      }
      if (server.has("env") || server.has("headers")) {
        return "cli.mcp: env and headers may hold secrets; configure the server \"" + name + "\"";
      }
      if (endpoint(server, Path.of("")) == null) {
        return "cli.mcp: the server \""
            + name
            + "\" needs a command (a list of words) or an http(s) url";
      }
    }
    return null;
  }

  /// The requested servers of the agent, and those of the task; all servers of the agent if the
  /// task requests none.
  List<McpServer> select(List<McpServer> configured, Path folder) {
    if (requested.isEmpty()) {
      return configured;
    }
    var servers = new ArrayList<McpServer>();
    for (var server : requested) {
      var mcpEndpoint = isTaskDefined(server) ? endpoint(server, folder) : null;
      if (mcpEndpoint == null) {
        configured.stream().filter(one -> one.name().equals(name(server))).forEach(servers::add);
      } else {
        servers.add(new McpServer(name(server), mcpEndpoint, null, null, McpServer.TIMEOUT));
      }
    }
    return servers.stream().distinct().toList();
  }

  private static McpServer.@Nullable McpEndpoint endpoint(JsonNode server, Path folder) {
    if (server.has("url")) {
      var url = server.path("url").asString("");
      return url.matches("https?://[^\\s/]+\\S*") && isUri(url)
          ? new McpServer.HttpEndpoint(URI.create(url), Map.of())
          : null;
    }
    var words =
        server.path("command").isString()
            ? Stream.concat(
                    Stream.of(server.path("command").asString()),
                    server.path("args").valueStream().map(word -> word.asString("")))
                .toList()
            : server.path("command").valueStream().map(word -> word.asString("")).toList();
    return words.isEmpty() || words.getFirst().isBlank()
        ? null
        : new McpServer.StdioEndpoint(words, Map.of(), folder);
  }

  private static boolean isUri(String text) {
    try {
      return !URI.create(text).getScheme().isEmpty();
    } catch (IllegalArgumentException broken) {
      return false;
    }
  }

  private static boolean isTaskDefined(JsonNode server) {
    return server.has("command") || server.has("url");
  }

  private static String name(JsonNode server) {
    return server.isString() ? server.asString() : server.path("name").asString("");
  }
}
