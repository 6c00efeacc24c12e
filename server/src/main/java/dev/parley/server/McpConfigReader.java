package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.invalidKey;

import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.protocol.WireName;
import dev.parley.server.ConfigFile.McpSection;
import dev.parley.server.ConfigFile.OAuthSection;
import dev.parley.tool.ShellTool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads `mcpServers`, and checks the references to them.
final class McpConfigReader {

  private static final McpSection NOTHING =
      new McpSection(null, null, null, null, null, null, null, null, null);

  private final Map<String, String> surrounding;
  private final Path folder;

  /// @param surrounding the environment of the server
  /// @param folder the folder in which servers start
  McpConfigReader(Map<String, String> surrounding, Path folder) {
    this.surrounding = surrounding;
    this.folder = folder;
  }

  /// Reads the servers. Errors are collected, and a server without function replaces a server whose
  /// endpoint has an error.
  List<McpServer> read(
      @Nullable Map<String, @Nullable McpSection> sections, ConfigProblems problems) {
    var servers = new ArrayList<McpServer>();
    if (sections == null) {
      return servers;
    }
    sections.forEach(
        (name, section) -> {
          var own = problems.under("mcpServers." + name);
          var server = server(name, section == null ? NOTHING : section, own);
          if (server != null) {
            servers.add(server);
          }
        });
    return servers;
  }

  /// Checks that the servers exist whose tools an agent uses.
  static void check(AgentConfig agent, List<McpServer> servers, ConfigProblems problems) {
    for (var i = 0; i < agent.tools().size(); i++) {
      var tool = agent.tools().get(i);
      if (tool.startsWith(McpServers.PREFIX)) {
        checkName(
            "tools[" + i + "]",
            tool.substring(McpServers.PREFIX.length()).split("/", 2)[0],
            servers,
            problems);
      }
    }
  }

  /// Checks that a server with this name exists.
  static void checkName(
      String path, String name, List<McpServer> servers, ConfigProblems problems) {
    var names = servers.stream().map(McpServer::name).toList();
    if (!names.contains(name)) {
      problems.addReference(ConfigProblem.unknown(path, "MCP server", name, names), "mcpServers");
    }
  }

  private @Nullable McpServer server(String name, McpSection section, ConfigProblems problems) {
    var named = name.matches(McpServer.NAME);
    if (!named) {
      problems.add(invalidKey("", "a name is 1 to 32 of A-Z a-z 0-9 _ -"));
    }
    var timeout = section.timeout() == null ? McpServer.TIMEOUT : section.timeout();
    if (timeout.compareTo(Duration.ofMillis(1)) < 0) {
      problems.add(invalid("timeout", "must be at least 1ms"));
    }
    var endpoint = problems.collectOr(nothing(), () -> endpoint(section, problems));
    var permission =
        problems.collect(() -> value("permission", section.permission(), Permission.class));
    var effect = problems.collect(() -> value("effect", section.effect(), Effect.class));
    return named ? new McpServer(name, endpoint, permission, effect, timeout) : null;
  }

  private McpServer.McpEndpoint nothing() {
    return new McpServer.StdioEndpoint(List.of(""), Map.of(), folder);
  }

  private McpServer.McpEndpoint endpoint(McpSection section, ConfigProblems problems) {
    var command = section.command();
    var url = section.url();
    if ((command == null) == (url == null)) {
      problems.add(invalid("", "either command or url is required"), "command", "url");
      return nothing();
    }
    if (command != null) {
      if (command.isEmpty()) {
        problems.add(invalid("command", "command must not be empty"));
      }
      for (var key : List.of("headers", "oauth")) {
        if (ConfigFile.keys(section).contains(key)) {
          problems.add(invalid(key, "needs url; cannot be used with command"));
        }
      }
      var environment = new HashMap<>(ShellTool.environment(surrounding, Set.of()));
      environment.putAll(section.env() == null ? Map.of() : section.env());
      return new McpServer.StdioEndpoint(
          command.isEmpty() ? List.of("") : command, environment, folder);
    }
    if (section.env() != null) {
      problems.add(invalid("env", "needs command; use headers with a url"));
    }
    var client = client(section.oauth(), problems);
    return new McpServer.HttpEndpoint(
        address(url), section.headers() == null ? Map.of() : section.headers(), client);
  }

  private static McpServer.@Nullable OAuthClient client(
      @Nullable OAuthSection oauth, ConfigProblems problems) {
    if (oauth == null) {
      return null;
    }
    if (oauth.clientId() == null || oauth.clientId().isBlank()) {
      problems.add(
          invalid("oauth", "needs the clientId that the authorization server issued"),
          "oauth.clientId");
      return null;
    }
    var secret = oauth.clientSecret();
    return new McpServer.OAuthClient(
        oauth.clientId(), secret == null || secret.isEmpty() ? null : secret);
  }

  private static URI address(@Nullable String url) {
    try {
      var address = URI.create(url == null ? "" : url);
      if (Set.of("http", "https").contains(String.valueOf(address.getScheme()))
          && address.getHost() != null
          && address.getRawUserInfo() == null) {
        return address;
      }
    } catch (IllegalArgumentException noAddress) {
      // Rejected below.
    }
    throw invalid("url", "must be like https://example.org/mcp");
  }

  private static <E extends Enum<E> & WireName> @Nullable E value(
      String key, @Nullable String name, Class<E> type) {
    return name == null ? null : ConfigProblem.choice(key, name, type);
  }
}
