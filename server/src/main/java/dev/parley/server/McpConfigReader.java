package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.mcp.McpServer;
import dev.parley.mcp.McpServers;
import dev.parley.protocol.WireName;
import dev.parley.server.ConfigFile.McpSection;
import dev.parley.server.ConfigFile.OAuthSection;
import dev.parley.tool.ShellTool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.net.URI;
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
      new McpSection(null, null, null, null, null, null, null, null);

  private final Config.ProcessEnvironment processEnvironment;

  McpConfigReader(Config.ProcessEnvironment processEnvironment) {
    this.processEnvironment = processEnvironment;
  }

  /// Reads the servers. The error of a server is collected, and a server without function replaces
  /// it.
  List<McpServer> read(
      @Nullable Map<String, @Nullable McpSection> sections, ConfigProblems problems) {
    var servers = new ArrayList<McpServer>();
    if (sections == null) {
      return servers;
    }
    sections.forEach(
        (name, section) -> {
          var server = problems.collect(() -> server(name, section == null ? NOTHING : section));
          if (server != null) {
            servers.add(server);
          } else if (name.matches(McpServer.NAME)) {
            var nothing =
                new McpServer.StdioEndpoint(List.of(""), Map.of(), processEnvironment.folder());
            servers.add(new McpServer(name, nothing, null, null, McpServer.TIMEOUT));
          }
        });
    return servers;
  }

  /// Checks that the servers exist whose tools an agent uses.
  static void check(Config.Agent agent, List<McpServer> servers) {
    for (var tool : agent.tools()) {
      if (tool.startsWith(McpServers.PREFIX)) {
        var name = tool.substring(McpServers.PREFIX.length()).split("/", 2)[0];
        if (servers.stream().noneMatch(server -> server.name().equals(name))) {
          throw ConfigProblem.unknown(
              "agents." + agent.id() + ".tools",
              "MCP server",
              name,
              servers.stream().map(McpServer::name).toList());
        }
      }
    }
  }

  private McpServer server(String name, McpSection section) {
    var where = "mcpServers." + name;
    if (!name.matches(McpServer.NAME)) {
      throw invalid(where, "a name is 1 to 32 of A-Z a-z 0-9 _ -");
    }
    var timeout = section.timeout() == null ? McpServer.TIMEOUT : section.timeout();
    if (timeout.compareTo(Duration.ofMillis(1)) < 0) {
      throw invalid(where + ".timeout", "must be at least 1ms");
    }
    return new McpServer(
        name,
        endpoint(where, section),
        value(where + ".permission", section.permission(), Permission.class),
        value(where + ".effect", section.effect(), Effect.class),
        timeout);
  }

  private McpServer.McpEndpoint endpoint(String where, McpSection section) {
    var command = section.command();
    var url = section.url();
    if ((command == null) == (url == null)) {
      throw invalid(where, "either command or url is required");
    }
    if (command != null) {
      if (command.isEmpty() || section.headers() != null || section.oauth() != null) {
        throw invalid(where, "command must not be empty, and cannot be used with headers or oauth");
      }
      var environment =
          new HashMap<>(ShellTool.environment(processEnvironment.environment(), Set.of()));
      environment.putAll(section.env() == null ? Map.of() : section.env());
      return new McpServer.StdioEndpoint(command, environment, processEnvironment.folder());
    }
    if (section.env() != null) {
      throw invalid(where + ".env", "needs command; use headers with a url");
    }
    return new McpServer.HttpEndpoint(
        address(where, url),
        section.headers() == null ? Map.of() : section.headers(),
        client(where, section.oauth()));
  }

  private static McpServer.@Nullable OAuthClient client(
      String where, @Nullable OAuthSection oauth) {
    if (oauth == null) {
      return null;
    }
    if (oauth.clientId() == null || oauth.clientId().isBlank()) {
      throw invalid(where + ".oauth", "needs the clientId that the authorization server issued");
    }
    var secret = oauth.clientSecret();
    return new McpServer.OAuthClient(
        oauth.clientId(), secret == null || secret.isEmpty() ? null : secret);
  }

  private static URI address(String where, @Nullable String url) {
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
    throw invalid(where + ".url", "must be like https://example.org/mcp");
  }

  private static <E extends Enum<E> & WireName> @Nullable E value(
      String where, @Nullable String name, Class<E> type) {
    return name == null ? null : ConfigProblem.choice(where, name, type);
  }
}
