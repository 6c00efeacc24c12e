package dev.parley.server;

import dev.parley.auth.CredentialProvider;
import dev.parley.mcp.McpTokenProvider;
import java.util.Optional;

/// Provides MCP clients with the tokens of users who signed in.
final class OAuthTokens implements McpTokenProvider {

  private final CredentialProvider credentialProvider;

  OAuthTokens(CredentialProvider credentialProvider) {
    this.credentialProvider = credentialProvider;
  }

  @Override
  public Optional<String> bearer(String owner, String provider) {
    return credentialProvider.token(owner, provider);
  }

  @Override
  public void reject(String owner, String provider) {
    credentialProvider.reject(owner, provider);
  }
}
