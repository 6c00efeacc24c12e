package dev.parley.client;

import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context to create; the server chooses values that are null.
public record NewContext(
    @Nullable ContextId contextId, @Nullable String title, @Nullable ObjectNode metadata) {

  /// A context without a title.
  public static final NewContext UNTITLED = new NewContext(null, null, null);

  /// A context with a title.
  public static NewContext titled(String title) {
    return new NewContext(null, title, null);
  }
}
