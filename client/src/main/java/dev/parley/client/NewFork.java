package dev.parley.client;

import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;

/// A fork that is wanted: at the last event if `atSeq` is missing, under an id of the server's if
/// `contextId` is.
public record NewFork(@Nullable Long atSeq, @Nullable ContextId contextId, @Nullable String title) {

  /// A fork of all there is.
  public static final NewFork OF_ALL = new NewFork(null, null, null);

  /// A fork that shares the events up to `seq`.
  public static NewFork at(long seq) {
    return new NewFork(seq, null, null);
  }
}
