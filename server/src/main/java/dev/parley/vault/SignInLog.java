package dev.parley.vault;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Rejection;
import tools.jackson.databind.node.ObjectNode;

/// What the log knows of sign-ins.
public interface SignInLog {

  /// What is asked for; `owner` is whose credential it will be.
  record Asked(String owner, String provider, AuthType type) {}

  /// What is asked for there.
  ///
  /// @throws Rejection.NotFound if nothing ever was
  /// @throws Rejection.Conflict if it no longer is
  Asked asked(Place place);

  /// Says that somebody signed in. Returns when that is durable.
  ///
  /// @throws Rejection.Conflict if it is no longer asked for
  void completed(Place place, String principal, ObjectNode metadata);
}
