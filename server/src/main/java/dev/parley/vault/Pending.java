package dev.parley.vault;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What is kept for a sign-in that somebody was asked for: the private half of a one-time key, or what
/// it takes to end an OAuth flow.
record Pending(
    Place place,
    String owner,
    String provider,
    Instant expiresAt,
    @Nullable String privateKey,
    @Nullable Flow flow) {

  /// Never shows a secret.
  @Override
  public String toString() {
    return "pending: " + place;
  }

  /// An OAuth flow that has begun.
  record Flow(
      String state,
      String verifier,
      String issuer,
      String tokenEndpoint,
      Credential.Client client,
      String redirectUri,
      @Nullable String resource,
      List<String> scopes) {
    Flow {
      scopes = List.copyOf(scopes);
    }

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a flow at " + issuer;
    }
  }
}
