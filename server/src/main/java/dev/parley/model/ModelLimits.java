package dev.parley.model;

import java.time.Duration;

/// Limits for the duration of a request to a model and for the size of its response.
///
/// `firstByte` limits the time until the response starts, and `silence` each pause after that.
/// There are at most `attemptsMax` attempts, with delays of at most `waitsMax` in total.
public record ModelLimits(
    Duration firstByte,
    Duration silence,
    int attemptsMax,
    Duration waitsMax,
    int lineBytesMax,
    long replyBytesMax) {

  /// Three minutes until the first byte, two minutes of silence, and five attempts with delays of
  /// one minute in total.
  public static final ModelLimits DEFAULT =
      new ModelLimits(
          Duration.ofMinutes(3),
          Duration.ofMinutes(2),
          5,
          Duration.ofMinutes(1),
          4 << 20,
          64L << 20);

  /// Returns the same limits with this timeout for the first byte and for silence.
  public ModelLimits withTimeout(Duration timeout) {
    return new ModelLimits(timeout, timeout, attemptsMax, waitsMax, lineBytesMax, replyBytesMax);
  }

  /// Returns the same limits with other sizes.
  public ModelLimits withSizes(int lineBytes, long replyBytes) {
    return new ModelLimits(firstByte, silence, attemptsMax, waitsMax, lineBytes, replyBytes);
  }
}
