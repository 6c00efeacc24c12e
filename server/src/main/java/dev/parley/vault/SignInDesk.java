package dev.parley.vault;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Prepares a sign-in.
@FunctionalInterface
public interface SignInDesk {

  /// A sign-in that a tool needs; `owner` will own the credential.
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

  /// How the person signs in: the URL to open, and metadata for programs. None of it is secret.
  record Invitation(@Nullable String authUrl, ObjectNode metadata) {}

  /// Prepares the sign-in and stores its secrets until the person completes it.
  ///
  /// @throws Rejection.Invalid if this sign-in is not possible; the message is for the model
  Invitation invite(Wanted wanted) throws InterruptedException;

  /// Returns an implementation that passes the tool's metadata on unchanged.
  static SignInDesk bare() {
    return wanted -> new Invitation(wanted.authUrl(), Json.object());
  }
}
