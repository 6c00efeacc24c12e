package dev.parley.bench;

import org.jspecify.annotations.Nullable;

/// Counts the events in the bytes that one reader receives. Used by one thread.
///
/// Only a thorough reader parses each event, checks that none is missing and records its latency.
/// If all readers did so, the benchmark would measure the readers instead of the server.
interface StreamReader {

  /// The first bytes to send.
  byte[] request();

  /// Handles `bytes` up to `to`, and returns the reply to send, if any.
  ///
  /// @param kept how many of the bytes are from the previous call, because of [#bytesToKeep]
  byte @Nullable [] received(byte[] bytes, int kept, int to);

  /// The number of last bytes that the next call needs again.
  int bytesToKeep();
}
