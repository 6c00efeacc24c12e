package dev.parley.door;

import java.time.Duration;

/// How much a client may ask of the listener.
///
/// `stall` is how long a connection may go without a byte moving while one is waited for.
public record Limits(int bodyBytes, int streams, Duration stall, Duration bodyTime) {

  /// The most items a page may have; whoever asks for more gets this many.
  public static final int PAGE_MAX = 1000;

  /// What is used unless the configuration says otherwise.
  public static final Limits USUAL =
      new Limits(1 << 20, 10_000, Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static final Duration HEADER_TIME_MAX = Duration.ofSeconds(20);

  /// How long a request's headers may take. The time starts with the first byte, even of an empty line.
  Duration headerTime() {
    return bodyTime.compareTo(HEADER_TIME_MAX) < 0 ? bodyTime : HEADER_TIME_MAX;
  }

  static final int HEADER_BYTES = 16 * 1024;
  static final int URI_CHARACTERS = 8 * 1024;
  static final int KEY_CHARACTERS = 255;
}
