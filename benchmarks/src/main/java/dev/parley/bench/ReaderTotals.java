package dev.parley.bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// Counts the events of all readers together.
final class ReaderTotals {

  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong received = new AtomicLong();
  private final AtomicLong missing = new AtomicLong();
  private final LatencyHistogram times = new LatencyHistogram();

  void opened() {
    open.incrementAndGet();
  }

  void received(long events) {
    received.addAndGet(events);
  }

  void missed() {
    missing.incrementAndGet();
  }

  /// Records the latency of an event that was created at `madeNanos`, on the same machine's clock.
  void recordLatency(long madeNanos) {
    times.add(System.nanoTime() - madeNanos);
  }

  int open() {
    return open.get();
  }

  long received() {
    return received.get();
  }

  long missing() {
    return missing.get();
  }

  LatencyHistogram times() {
    return times;
  }
}
