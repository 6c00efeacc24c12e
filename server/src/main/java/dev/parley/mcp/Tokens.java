package dev.parley.mcp;

import java.util.Optional;

/// Where the access tokens of people for MCP servers come from. Safe for many threads.
public interface Tokens {

  /// For servers that need none.
  Tokens NONE =
      new Tokens() {
        @Override
        public Optional<String> bearer(String owner, String provider) {
          return Optional.empty();
        }

        @Override
        public void reject(String owner, String provider) {}
      };

  /// The token that `owner` has for the server called `provider`, if there is one. Asked for every
  /// request, so it must be quick.
  Optional<String> bearer(String owner, String provider);

  /// The server refuses the token: it is not given out again.
  void reject(String owner, String provider);
}
