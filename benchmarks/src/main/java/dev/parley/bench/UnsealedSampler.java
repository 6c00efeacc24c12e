package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// Samples every few milliseconds how many bytes of the log are not in segments yet.
final class UnsealedSampler implements AutoCloseable {

  private static final long EVERY_NANOS = 20_000_000;
  private static final double MIB = 1 << 20;

  private final ParleyAppender log;
  private final List<Long> samples = new ArrayList<>();
  private final Thread thread;
  private volatile boolean watching;
  private volatile boolean closed;

  UnsealedSampler(ParleyAppender log) {
    this.log = log;
    this.thread = Thread.ofPlatform().daemon().name("bench-unsealed").start(this::run);
  }

  /// Starts or stops sampling: only the turns of Parley's log count.
  void setSampling(boolean on) {
    watching = on;
  }

  /// The maximum of unsealed data in the last quarter, divided by that of the quarter before.
  double growth() {
    var all = copy();
    var size = all.size();
    var before = most(all.subList(size / 2, size * 3 / 4));
    return before == 0 ? 1 : most(all.subList(size * 3 / 4, size)) / before;
  }

  String summary() {
    var all = copy();
    var half = all.subList(all.size() / 2, all.size());
    var least = half.stream().mapToLong(x -> x).min().orElse(0);
    return "Not yet in segments, second half of the turns: %s to %s MiB"
        .formatted(shown(least / MIB), shown(most(half) / MIB));
  }

  private static double most(List<Long> samples) {
    return samples.stream().mapToLong(x -> x).max().orElse(0);
  }

  private List<Long> copy() {
    synchronized (samples) {
      return List.copyOf(samples);
    }
  }

  private void run() {
    while (!closed) {
      if (watching) {
        synchronized (samples) {
          samples.add(log.unsealedBytes());
        }
      }
      LockSupport.parkNanos(EVERY_NANOS);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
