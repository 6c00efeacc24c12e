package dev.parley.bench;

import org.jspecify.annotations.Nullable;

/// What one reader makes of the bytes it receives. Used by one thread.
///
/// Every reader counts events. Only a thorough one looks into each of them, checks that none is
/// missing and takes its time: doing so for all would measure the readers and not the server.
interface Wire {

  /// What to send first.
  byte[] request();

  /// Takes in `bytes` up to `to`, and returns what to send back, if anything.
  ///
  /// @param kept how many of the bytes were there before, because [#keep] asked for it
  byte @Nullable [] received(byte[] bytes, int kept, int to);

  /// How many of the last bytes should stand before the next ones.
  int keep();
}
