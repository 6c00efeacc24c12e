package dev.parley.auth;

import dev.parley.auth.Credential.TokenRenewal;
import dev.parley.auth.PendingSignIn.OAuthFlowState;
import dev.parley.auth.TokenClient.TokenParser;
import dev.parley.auth.TokenClient.TokenReply;
import dev.parley.auth.Vault.VaultContents;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The second half of an OAuth sign-in: from the browser's redirect to the token.
public final class OAuthFlow {

  /// The parameters of the redirect from an authorization server.
  public record OAuthCallback(String state, String code, String error, @Nullable String issuer) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "returned";
    }
  }

  private final Vault vault;
  private final TokenClient client;

  OAuthFlow(Vault vault, TokenClient client) {
    this.vault = vault;
    this.client = client;
  }

  /// Returns the name of a client registration in the vault. A registration is valid for one
  /// redirect URI.
  static String clientName(String issuer, String redirectUri) {
    return VaultContents.name(issuer, redirectUri);
  }

  /// Returns the sign-in that this redirect completes. Empty if the person denied it, or if state
  /// or issuer do not match.
  Optional<PendingSignIn> find(OAuthCallback oAuthCallback) {
    if (oAuthCallback.state().isEmpty()
        || oAuthCallback.code().isEmpty()
        || !oAuthCallback.error().isEmpty()) {
      return Optional.empty();
    }
    var now = vault.sources().clock().instant();
    return vault.contents().pending().values().stream()
        .filter(
            pendingSignIn ->
                pendingSignIn.expiresAt().isAfter(now)
                    && matches(pendingSignIn.flow(), oAuthCallback))
        .findFirst();
  }

  private static boolean matches(
      @Nullable OAuthFlowState oAuthFlowState, OAuthCallback oAuthCallback) {
    return oAuthFlowState != null
        && same(oAuthFlowState.state(), oAuthCallback.state())
        // RFC 9207: the redirect may come from another server than the one that the flow began
        // with.
        && (oAuthCallback.issuer() == null
            || oAuthCallback.issuer().equals(oAuthFlowState.issuer()));
  }

  private static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  /// Exchanges the code for a token. Empty if the authorization server rejects the code.
  Optional<Credential> exchange(PendingSignIn pendingSignIn, String code)
      throws InterruptedException {
    var oAuthFlowState = pendingSignIn.flow();
    if (oAuthFlowState == null) {
      return Optional.empty();
    }
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("grant_type", "authorization_code");
    parameters.put("code", code);
    parameters.put("redirect_uri", oAuthFlowState.redirectUri());
    parameters.put("code_verifier", oAuthFlowState.verifier());
    if (oAuthFlowState.resource() != null) {
      parameters.put("resource", oAuthFlowState.resource());
    }
    return switch (client.token(
        oAuthFlowState.tokenEndpoint(), oAuthFlowState.client(), parameters)) {
      case TokenReply.TokenSuccess(var json) -> {
        var later =
            new TokenRenewal(
                "",
                oAuthFlowState.tokenEndpoint(),
                oAuthFlowState.client(),
                oAuthFlowState.resource(),
                oAuthFlowState.scopes());
        yield TokenParser.read(json, later, vault.sources().clock().instant());
      }
      case TokenReply.TokenRefusal(var error) -> {
        if (error.equals("invalid_client")) {
          forget(oAuthFlowState);
        }
        yield Optional.empty();
      }
      case TokenReply.EndpointUnreachable _ -> Optional.empty();
    };
  }

  /// Removes a registration that the server no longer accepts. The next sign-in registers again.
  private void forget(OAuthFlowState oAuthFlowState) {
    vault.change(
        now ->
            now.withClients(
                all ->
                    all.remove(clientName(oAuthFlowState.issuer(), oAuthFlowState.redirectUri()))));
  }
}
