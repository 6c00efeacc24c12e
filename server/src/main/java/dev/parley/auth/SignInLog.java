package dev.parley.auth;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Rejection;
import tools.jackson.databind.node.ObjectNode;

/// Reads and completes the sign-in requests in the log.
public interface SignInLog {

  /// A requested sign-in; `owner` will own the credential.
  record RequestedSignIn(String owner, String provider, AuthType type) {}

  /// Returns the request.
  ///
  /// @throws Rejection.NotFound if there never was such a request
  /// @throws Rejection.Conflict if the request is no longer open
  RequestedSignIn requested(SignInId signInId);

  /// Records that the person signed in. Returns when that is durable.
  ///
  /// @throws Rejection.Conflict if the request is no longer open
  void complete(SignInId signInId, String principal, ObjectNode metadata);
}
