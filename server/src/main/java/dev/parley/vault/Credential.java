package dev.parley.vault;

import dev.parley.protocol.AuthEvent.AuthType;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What somebody signs in with: a key, or an access token that can perhaps be renewed.
///
/// `secret` is empty while only the renewal is good for anything; `renewedAt` is when it last was.
public record Credential(
    String secret,
    @Nullable Instant expiresAt,
    @Nullable Renewal renewal,
    @Nullable Instant renewedAt) {

  /// A credential that is good until it is refused.
  public static Credential of(String secret) {
    return new Credential(secret, null, null, null);
  }

  /// The same without its secret, which was refused.
  Credential spent() {
    return new Credential("", null, renewal, renewedAt);
  }

  /// True if there is a secret that has not expired.
  boolean good(Instant now) {
    return !secret.isEmpty() && (expiresAt == null || expiresAt.isAfter(now));
  }

  /// Never shows a secret.
  @Override
  public String toString() {
    return "a credential, expires at " + expiresAt;
  }

  /// What it takes to get a new access token.
  public record Renewal(
      String refreshToken,
      String tokenEndpoint,
      Client client,
      @Nullable String resource,
      List<String> scopes) {
    public Renewal {
      scopes = List.copyOf(scopes);
    }

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a renewal at " + tokenEndpoint;
    }
  }

  /// What an authorization server knows Parley by; `basic` says how its secret is sent, if it has one.
  public record Client(String id, @Nullable String secret, boolean basic) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "client " + id;
    }
  }

  /// What a credential is for: they do not stand in for each other, even under the same name.
  public enum Kind {
    /// Shown to a host as it is.
    KEY,
    /// Got by OAuth.
    OAUTH;

    /// The kind that comes of signing in this way.
    public static Kind of(AuthType type) {
      return switch (type) {
        case OAUTH2 -> OAUTH;
        case API_KEY, PASSWORD, BIOMETRIC, PAT, CUSTOM -> KEY;
      };
    }
  }
}
