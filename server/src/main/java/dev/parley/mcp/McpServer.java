package dev.parley.mcp;

import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A configured MCP server. The configured permission and effect override the claims of the server
/// about its tools; `timeout` is how long a call may be silent.
public record McpServer(
    String name,
    McpEndpoint endpoint,
    @Nullable Permission permission,
    @Nullable Effect effect,
    Duration timeout) {

  /// The default timeout.
  public static final Duration TIMEOUT = Duration.ofSeconds(60);

  /// The pattern of a name.
  public static final String NAME = "[A-Za-z0-9_-]{1,32}";

  public McpServer {
    if (!name.matches(NAME)) {
      throw new IllegalArgumentException("invalid name of an MCP server: " + name);
    }
  }

  /// A manual registration of Parley at an authorization server.
  public record OAuthClient(String id, @Nullable String secret) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "client " + id;
    }
  }

  /// How to reach a server.
  public sealed interface McpEndpoint {}

  /// A process that Parley starts; `environment` is its complete environment.
  public record StdioEndpoint(List<String> command, Map<String, String> environment, Path folder)
      implements McpEndpoint {
    public StdioEndpoint {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
    }

    /// Without the values, which may be secret.
    @Override
    public String toString() {
      return command.getFirst() + " " + environment.keySet();
    }
  }

  /// A server that is reached by streamable HTTP; `client` is the registration of Parley at its
  /// authorization server, if there is one.
  public record HttpEndpoint(URI url, Map<String, String> headers, @Nullable OAuthClient client)
      implements McpEndpoint {
    public HttpEndpoint {
      headers = Map.copyOf(headers);
    }

    public HttpEndpoint(URI url, Map<String, String> headers) {
      this(url, headers, null);
    }

    /// True if the configuration contains the credentials, so that no sign-in is needed.
    public boolean authorized() {
      return headers.keySet().stream().anyMatch("authorization"::equalsIgnoreCase);
    }

    /// Without the values, which may be secret.
    @Override
    public String toString() {
      return url + " " + headers.keySet();
    }
  }
}
