package dev.parley.mcp;

import java.util.Optional;

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
