package dev.parley.client;

import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;

/// A fork to create. Without `atSeq`, it is at the last event; without `contextId`, the server
/// chooses the id.
public record NewFork(@Nullable Long atSeq, @Nullable ContextId contextId, @Nullable String title) {

  /// A fork at the last event.
  public static final NewFork OF_ALL = new NewFork(null, null, null);

  /// A fork that shares the events up to `seq`.
  public static NewFork at(long seq) {
    return new NewFork(seq, null, null);
  }
}
