package dev.parley.http;

import java.time.Duration;

/// The limits of the listener for requests and connections.
///
/// `stall` is how long a connection may transfer no byte while the server waits for one. The two last
/// limits are for callers that have not authenticated.
public record HttpLimits(
    int bodyBytes,
    int streams,
    Duration stall,
    Duration bodyTime,
    int connectionsPerAddress,
    int anonymousRequestsPerMinute) {

  public static final int CONNECTIONS_PER_ADDRESS = 256;
  public static final int ANONYMOUS_REQUESTS_PER_MINUTE = 1200;

  /// The usual limits per address.
  public HttpLimits(int bodyBytes, int streams, Duration stall, Duration bodyTime) {
    this(
        bodyBytes,
        streams,
        stall,
        bodyTime,
        CONNECTIONS_PER_ADDRESS,
        ANONYMOUS_REQUESTS_PER_MINUTE);
  }

  /// The largest page. A request for more items gets this many.
  public static final int PAGE_MAX = 1000;

  /// The defaults.
  public static final HttpLimits DEFAULTS =
      new HttpLimits(1 << 20, 10_000, Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static final Duration HEADER_TIME_MAX = Duration.ofSeconds(20);

  /// The time limit for a request's headers. It starts with the first byte, even of an empty line.
  Duration headerTime() {
    return bodyTime.compareTo(HEADER_TIME_MAX) < 0 ? bodyTime : HEADER_TIME_MAX;
  }

  static final int HEADER_BYTES = 16 * 1024;
  static final int URI_CHARACTERS = 8 * 1024;
  static final int KEY_CHARACTERS = 255;
}
