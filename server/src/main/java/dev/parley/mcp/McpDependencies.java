package dev.parley.mcp;

import dev.parley.net.AddressPolicy;
import dev.parley.net.Backoff;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ProcessIsolation;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// What the connections to MCP servers need. `version` is the version that Parley reports to
/// servers, `addresses` decides which addresses a sign-in may use, and `isolation` is what the
/// processes of servers may use, by name.
public record McpDependencies(
    ManagedProcesses children,
    McpTokenProvider tokens,
    McpTimeouts timeouts,
    String version,
    AddressPolicy addresses,
    OutgoingHttpClient http,
    Time time,
    Threads threads,
    Map<String, ProcessIsolation> isolation) {

  public McpDependencies {
    isolation = Map.copyOf(isolation);
  }

  /// What servers need that have no settings for isolation.
  public McpDependencies(
      ManagedProcesses children,
      McpTokenProvider tokens,
      McpTimeouts timeouts,
      String version,
      AddressPolicy addresses,
      OutgoingHttpClient http,
      Time time,
      Threads threads) {
    this(children, tokens, timeouts, version, addresses, http, time, threads, Map.of());
  }

  /// What the process of this server may use.
  ProcessIsolation isolationOf(String server) {
    return isolation.getOrDefault(server, ProcessIsolation.MCP_SERVERS);
  }

  /// Provides the access tokens of owners for MCP servers. Safe for many threads.
  public interface McpTokenProvider {

    /// A provider without tokens.
    McpTokenProvider NONE =
        new McpTokenProvider() {
          @Override
          public Optional<String> bearer(String owner, String provider) {
            return Optional.empty();
          }

          @Override
          public void reject(String owner, String provider) {}
        };

    /// The token of `owner` for the server called `provider`, if there is one. Called for every
    /// request, so it must be fast.
    Optional<String> bearer(String owner, String provider);

    /// Reports that the server rejected the token: it is not returned again.
    void reject(String owner, String provider);
  }

  /// Timeouts for servers: the time to start, the delay before a retry (doubled after each further
  /// failure, up to `retryMax`), the time to end, the time after which a connection is healthy, and
  /// the maximum age of a tool list.
  public record McpTimeouts(
      Duration connect,
      Duration retryFirst,
      Duration retryMax,
      Duration shutdown,
      Duration healthyAfter,
      Duration toolListMaxAge) {

    /// The default values.
    public static final McpTimeouts DEFAULT =
        new McpTimeouts(
            Duration.ofSeconds(30),
            Duration.ofMillis(500),
            Duration.ofMinutes(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1));

    Duration retryDelay(int failures) {
      return new Backoff(retryFirst, retryMax).delay(failures);
    }
  }
}
