package dev.parley.vault;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Makes ready what somebody needs to be able to sign in.
@FunctionalInterface
public interface SignInDesk {

  /// A sign-in that a tool wants; `owner` is whose credential it will be.
  record Wanted(
      Place place,
      String owner,
      AuthType type,
      String provider,
      List<String> scopes,
      @Nullable String authUrl,
      @Nullable ObjectNode metadata,
      Instant expiresAt) {
    public Wanted {
      scopes = List.copyOf(scopes);
    }
  }

  /// What the person is told: where to go, and what programs must know. None of it is secret.
  record Invitation(@Nullable String authUrl, ObjectNode metadata) {}

  /// What to tell the person; the rest is kept until they come.
  ///
  /// @throws Rejection.Invalid if nobody can sign in like this; the message is for the model
  Invitation invite(Wanted wanted) throws InterruptedException;

  /// Adds nothing to what a tool says.
  static SignInDesk bare() {
    return wanted -> new Invitation(wanted.authUrl(), Json.object());
  }
}
