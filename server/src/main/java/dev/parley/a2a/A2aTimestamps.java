package dev.parley.a2a;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// The format of timestamps.
final class A2aTimestamps {

  static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private A2aTimestamps() {}
}
