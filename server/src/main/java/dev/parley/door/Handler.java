package dev.parley.door;

import dev.parley.protocol.Rejection;

/// Answers the requests of one route.
@FunctionalInterface
public interface Handler {

  /// The reply. May block: every request has a virtual thread of its own.
  ///
  /// @throws Rejection if the caller asked for what cannot be; it becomes a problem on the wire
  Reply handle(Request request);
}
