package dev.parley.auth;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Prepares a sign-in.
@FunctionalInterface
public interface SignInRequests {

  /// A sign-in that a tool needs; `owner` will own the credential.
  record SignInDetails(
      SignInId place,
      String owner,
      AuthType type,
      String provider,
      List<String> scopes,
      @Nullable String authUrl,
      @Nullable ObjectNode metadata,
      Instant expiresAt) {
    public SignInDetails {
      scopes = List.copyOf(scopes);
    }
  }

  /// How the person signs in: the URL to open, and metadata for programs. None of it is secret.
  record SignInInstructions(@Nullable String authUrl, ObjectNode metadata) {}

  /// Prepares the sign-in and stores its secrets until the person completes it.
  ///
  /// @throws Rejection.Invalid if this sign-in is not possible; the message is for the model
  SignInInstructions prepare(SignInDetails signInDetails) throws InterruptedException;

  /// Returns an implementation that passes the tool's metadata on unchanged.
  static SignInRequests passThrough() {
    return signInDetails -> new SignInInstructions(signInDetails.authUrl(), Json.object());
  }
}
