package dev.parley.auth;

import dev.parley.protocol.AuthEvent.AuthType;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A key, or an access token that may be renewable.
///
/// `secret` is empty if the token was rejected and must be renewed. `renewedAt` is the time of the
/// last renewal.
public record Credential(
    String secret,
    @Nullable Instant expiresAt,
    @Nullable TokenRenewal renewal,
    @Nullable Instant renewedAt) {

  /// Returns a credential that does not expire.
  public static Credential of(String secret) {
    return new Credential(secret, null, null, null);
  }

  /// Returns the credential without its secret, after the provider rejected it.
  Credential withoutSecret() {
    return new Credential("", null, renewal, renewedAt);
  }

  /// Returns true if there is a secret that has not expired.
  boolean isValid(Instant now) {
    return !secret.isEmpty() && (expiresAt == null || expiresAt.isAfter(now));
  }

  /// Never shows a secret.
  @Override
  public String toString() {
    return "a credential, expires at " + expiresAt;
  }

  /// The data that is needed to get a new access token.
  public record TokenRenewal(
      String refreshToken,
      String tokenEndpoint,
      RegisteredClient client,
      @Nullable String resource,
      List<String> scopes) {
    public TokenRenewal {
      scopes = List.copyOf(scopes);
    }

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a renewal at " + tokenEndpoint;
    }
  }

  /// Parley's client registration at an authorization server. If `basic` is true, the secret is
  /// sent with HTTP Basic authentication.
  public record RegisteredClient(String id, @Nullable String secret, boolean basic) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "client " + id;
    }
  }

  /// The purpose of a credential. Credentials of different kinds are separate, even under the same
  /// name.
  public enum CredentialKind {
    /// Sent to a host unchanged.
    KEY,
    /// Obtained with OAuth.
    OAUTH;

    /// Returns the kind of credential that this type of sign-in yields.
    public static CredentialKind of(AuthType type) {
      return switch (type) {
        case OAUTH2 -> OAUTH;
        case API_KEY, PASSWORD, BIOMETRIC, PAT, CUSTOM -> KEY;
      };
    }
  }
}
