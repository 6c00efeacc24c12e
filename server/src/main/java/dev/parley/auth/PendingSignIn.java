package dev.parley.auth;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The secrets of a sign-in that was requested: the private part of a one-time key, or the state of
/// an OAuth flow.
record PendingSignIn(
    SignInId place,
    String owner,
    String provider,
    Instant expiresAt,
    @Nullable String privateKey,
    @Nullable OAuthFlowState flow) {

  /// Never shows a secret.
  @Override
  public String toString() {
    return "pending: " + place;
  }

  /// The state of an OAuth flow.
  record OAuthFlowState(
      String state,
      String verifier,
      String issuer,
      String tokenEndpoint,
      Credential.RegisteredClient client,
      String redirectUri,
      @Nullable String resource,
      List<String> scopes) {
    OAuthFlowState {
      scopes = List.copyOf(scopes);
    }

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a flow at " + issuer;
    }
  }
}
