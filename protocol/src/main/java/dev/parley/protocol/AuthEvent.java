package dev.parley.protocol;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A request for a sign-in, and its outcome. Events never contain credentials.
public sealed interface AuthEvent extends Event {

  /// A task needs the user to sign in. Only the user can answer it, never another agent.
  record AuthRequired(
      AuthId authId,
      AuthType authType,
      @Nullable String provider,
      @Nullable List<String> scopes,
      String prompt,
      @Nullable String authUrl,
      @Nullable ObjectNode metadata,
      @Nullable Instant expiresAt)
      implements AuthEvent {
    public AuthRequired {
      scopes = scopes == null ? null : List.copyOf(scopes);
    }

    /// What the metadata says.
    public QuestionFacts facts() {
      return QuestionFacts.of(metadata);
    }
  }

  /// The user signed in.
  record AuthCompleted(AuthId authId, String userId, @Nullable ObjectNode metadata)
      implements AuthEvent {}

  /// The request for a sign-in expired or is no longer needed.
  record AuthLapsed(AuthId authId, @Nullable String reason, @Nullable String principal)
      implements AuthEvent {
    /// A request that no user dismissed.
    public AuthLapsed(AuthId authId, @Nullable String reason) {
      this(authId, reason, null);
    }
  }

  /// The method by which the user authenticates.
  enum AuthType implements WireName {
    OAUTH2,
    API_KEY,
    PASSWORD,
    BIOMETRIC,
    PAT,
    CUSTOM
  }
}
