package dev.parley.protocol;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A person is asked to sign in. Credentials never appear in an event.
public sealed interface AuthEvent extends Event {

  /// A sign-in is needed; it always goes to the person.
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
  }

  /// The person signed in.
  record AuthCompleted(AuthId authId, String userId, @Nullable ObjectNode metadata)
      implements AuthEvent {}

  /// Nobody signed in in time, or it is no longer wanted. `principal` is the person who gave it up, if one did.
  record AuthLapsed(AuthId authId, @Nullable String reason, @Nullable String principal)
      implements AuthEvent {
    /// Given up by nobody.
    public AuthLapsed(AuthId authId, @Nullable String reason) {
      this(authId, reason, null);
    }
  }

  /// How the person proves who they are.
  enum AuthType implements WireName {
    OAUTH2,
    API_KEY,
    PASSWORD,
    BIOMETRIC,
    PAT,
    CUSTOM
  }
}
