package dev.parley.server;

import dev.parley.mcp.Tokens;
import dev.parley.vault.Bearers;
import java.util.Optional;

/// Provides MCP clients with the tokens of users who signed in.
final class OAuthTokens implements Tokens {

  private final Bearers bearers;

  OAuthTokens(Bearers bearers) {
    this.bearers = bearers;
  }

  @Override
  public Optional<String> bearer(String owner, String provider) {
    return bearers.token(owner, provider);
  }

  @Override
  public void reject(String owner, String provider) {
    bearers.reject(owner, provider);
  }
}
