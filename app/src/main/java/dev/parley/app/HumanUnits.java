package dev.parley.app;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/// Formats durations and sizes for people.
final class HumanUnits {

  private static final long KIBI = 1024;

  private HumanUnits() {}

  static String between(Instant start, Instant end) {
    return text(Duration.between(start, end));
  }

  static String text(Duration duration) {
    var millis = Math.max(0, duration.toMillis());
    if (millis < 1000) {
      return millis + " ms";
    }
    if (millis < 60_000) {
      return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    }
    var seconds = millis / 1000;
    return seconds < 3600
        ? seconds / 60 + " min " + seconds % 60 + " s"
        : seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
  }

  static String size(long bytes) {
    if (bytes < KIBI) {
      return bytes + " B";
    }
    var size = bytes / (double) KIBI;
    for (var unit : new String[] {"KB", "MB", "GB"}) {
      if (size < KIBI || unit.equals("GB")) {
        return String.format(Locale.ROOT, "%.1f %s", size, unit);
      }
      size /= KIBI;
    }
    throw new IllegalStateException("no unit for " + bytes);
  }
}
