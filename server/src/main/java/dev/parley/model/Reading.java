package dev.parley.model;

import dev.parley.protocol.ReportEvent.Usage;

/// Makes a reply of the events of one stream. For one thread.
interface Reading {

  /// Takes an event. True if nothing of interest will follow.
  ///
  /// @throws ModelFailure if the event tells of an error, or cannot be understood
  boolean take(SseEvent event) throws ModelFailure, InterruptedException;

  /// What the provider has reported so far.
  Usage usage();

  /// What it all came to.
  ///
  /// @throws ModelFailure if the stream ended too early, or the answer is not what was asked for
  Reply.Answered finish() throws ModelFailure, InterruptedException;
}
