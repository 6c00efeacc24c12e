package dev.parley.http;

import dev.parley.protocol.Rejection;

/// Handles the requests of one route.
@FunctionalInterface
public interface RouteHandler {

  /// Returns the reply. May block: every request has its own virtual thread.
  ///
  /// @throws Rejection if the request is rejected; it becomes a problem document
  Reply handle(Request request);
}
