package dev.parley.mcp;

import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A configured MCP server. What is said here about permission and effect holds, whatever the server
/// says about its tools; `timeout` is how long a call may go without a sign of life.
public record McpServer(
    String name,
    Endpoint endpoint,
    @Nullable Permission permission,
    @Nullable Effect effect,
    Duration timeout) {

  /// The time-out if none is configured.
  public static final Duration TIMEOUT = Duration.ofSeconds(60);

  /// What a name must look like.
  public static final String NAME = "[A-Za-z0-9_-]{1,32}";

  public McpServer {
    if (!name.matches(NAME)) {
      throw new IllegalArgumentException("not a name of a server: " + name);
    }
  }

  /// A registration at an authorization server that was made by hand.
  public record OAuthClient(String id, @Nullable String secret) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "client " + id;
    }
  }

  /// Where a server is.
  public sealed interface Endpoint {}

  /// A process of ours; `environment` is all that it gets.
  public record Stdio(List<String> command, Map<String, String> environment, Path folder)
      implements Endpoint {
    public Stdio {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
    }

    /// Without the values, which may be secret.
    @Override
    public String toString() {
      return command.getFirst() + " " + environment.keySet();
    }
  }

  /// A server elsewhere that speaks streamable HTTP; `client` is what its authorization server knows Parley by, if
  /// that was agreed on beforehand.
  public record Http(URI url, Map<String, String> headers, @Nullable OAuthClient client)
      implements Endpoint {
    public Http {
      headers = Map.copyOf(headers);
    }

    public Http(URI url, Map<String, String> headers) {
      this(url, headers, null);
    }

    /// True if the configuration has the credentials, so that nobody needs to sign in.
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
