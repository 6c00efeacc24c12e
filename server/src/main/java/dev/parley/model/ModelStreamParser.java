package dev.parley.model;

import dev.parley.protocol.ReportEvent.Usage;

/// Builds a reply from the events of one stream. For one thread.
interface ModelStreamParser {

  /// Processes an event. Returns true if no relevant event will follow.
  ///
  /// @throws ModelFailure if the event is an error, or is malformed
  boolean accept(SseEvent event) throws ModelFailure, InterruptedException;

  /// Returns the usage that the provider has reported so far.
  Usage usage();

  /// Returns the reply.
  ///
  /// @throws ModelFailure if the stream ended early, or the answer does not match the schema
  ModelReply.ModelAnswer finish() throws ModelFailure, InterruptedException;
}
