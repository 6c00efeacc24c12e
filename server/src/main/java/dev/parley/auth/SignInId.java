package dev.parley.auth;

import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;

/// Identifies a sign-in.
public record SignInId(ContextId contextId, AuthId authId) {

  @Override
  public String toString() {
    return contextId + " " + authId;
  }
}
