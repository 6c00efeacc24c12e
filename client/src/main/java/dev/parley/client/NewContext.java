package dev.parley.client;

import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context to be made; what is missing is the server's choice.
public record NewContext(
    @Nullable ContextId contextId, @Nullable String title, @Nullable ObjectNode metadata) {

  /// With everything left to the server.
  public static final NewContext UNTITLED = new NewContext(null, null, null);

  /// With a title.
  public static NewContext titled(String title) {
    return new NewContext(null, title, null);
  }
}
