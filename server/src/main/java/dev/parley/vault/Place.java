package dev.parley.vault;

import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;

/// Which sign-in is meant.
public record Place(ContextId contextId, AuthId authId) {

  @Override
  public String toString() {
    return contextId + " " + authId;
  }
}
