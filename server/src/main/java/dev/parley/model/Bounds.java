package dev.parley.model;

import java.time.Duration;

/// How long one question may take and how large its answer may be.
///
/// `firstByte` is how long an answer may take to begin, `silence` how long it may then stop. A question
/// is asked at most `attemptsMax` times, with waits between them of at most `waitsMax` in all.
public record Bounds(
    Duration firstByte,
    Duration silence,
    int attemptsMax,
    Duration waitsMax,
    int lineBytesMax,
    long replyBytesMax) {

  /// Three minutes to the first byte, two of silence, five attempts within a minute of waiting.
  public static final Bounds USUAL =
      new Bounds(
          Duration.ofMinutes(3),
          Duration.ofMinutes(2),
          5,
          Duration.ofMinutes(1),
          4 << 20,
          64L << 20);

  /// The same, with one limit for every kind of silence.
  public Bounds withTimeout(Duration timeout) {
    return new Bounds(timeout, timeout, attemptsMax, waitsMax, lineBytesMax, replyBytesMax);
  }

  /// The same, with other limits of size.
  public Bounds withSizes(int lineBytes, long replyBytes) {
    return new Bounds(firstByte, silence, attemptsMax, waitsMax, lineBytes, replyBytes);
  }
}
