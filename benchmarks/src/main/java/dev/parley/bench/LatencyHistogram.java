package dev.parley.bench;

import java.util.concurrent.atomic.AtomicLongArray;

/// Counts times in buckets that are 3% wide, so that memory does not grow with the number of times.
///
/// Safe for use by many threads.
final class LatencyHistogram {

  private static final int STEPS = 5;
  private static final int WIDTH = 1 << STEPS;

  private final AtomicLongArray counts = new AtomicLongArray(64 * WIDTH);

  void add(long nanos) {
    counts.incrementAndGet(bucket(Math.max(1, nanos)));
  }

  /// Adds all times of another.
  void add(LatencyHistogram other) {
    for (var i = 0; i < counts.length(); i++) {
      counts.addAndGet(i, other.counts.get(i));
    }
  }

  long count() {
    var sum = 0L;
    for (var i = 0; i < counts.length(); i++) {
      sum += counts.get(i);
    }
    return sum;
  }

  /// The time that this share of all times does not exceed, in milliseconds: 0.99 is the p99.
  double millis(double share) {
    var left = (long) Math.ceil(share * count());
    for (var i = 0; i < counts.length(); i++) {
      left -= counts.get(i);
      if (left <= 0) {
        return upper(i) / 1e6;
      }
    }
    return 0;
  }

  void clear() {
    for (var i = 0; i < counts.length(); i++) {
      counts.set(i, 0);
    }
  }

  private static int bucket(long nanos) {
    var exponent = 63 - Long.numberOfLeadingZeros(nanos);
    if (exponent < STEPS) {
      return (int) nanos;
    }
    var step = (int) (nanos >>> (exponent - STEPS)) - WIDTH;
    return (exponent - STEPS + 1) * WIDTH + step;
  }

  private static double upper(int bucket) {
    if (bucket < WIDTH) {
      return bucket;
    }
    var exponent = bucket / WIDTH + STEPS - 1;
    return Math.scalb((double) (WIDTH + bucket % WIDTH + 1), exponent - STEPS);
  }
}
