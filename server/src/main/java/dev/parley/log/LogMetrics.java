package dev.parley.log;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/// Counters of the log since it was opened.
public final class LogMetrics {

  private final LongAdder events = new LongAdder();
  private final LongAdder commits = new LongAdder();
  private final LongAdder commitNanos = new LongAdder();
  private final LongAdder erasedBytes = new LongAdder();
  private final LongAdder truncations = new LongAdder();
  private volatile LongConsumer listener = _ -> {};

  void committed(List<PendingAppend> batch, long nanos) {
    var added = 0L;
    for (var pendingAppend : batch) {
      added += pendingAppend.events();
    }
    events.add(added);
    commits.increment();
    commitNanos.add(nanos);
    listener.accept(nanos);
  }

  /// Calls `listener` with the duration of each commit in nanoseconds, on the writer thread.
  public void onCommit(LongConsumer listener) {
    this.listener = listener;
  }

  void erased(long bytes) {
    erasedBytes.add(bytes);
  }

  void truncated() {
    truncations.increment();
  }

  /// Events that became durable.
  public long events() {
    return events.sum();
  }

  /// Commits.
  public long commits() {
    return commits.sum();
  }

  /// Total time of the commits.
  public long commitNanos() {
    return commitNanos.sum();
  }

  /// Bytes of rows that were deleted because their context was deleted.
  public long erasedBytes() {
    return erasedBytes.sum();
  }

  /// How often the write-ahead log was truncated to remove the data of deleted contexts.
  public long truncations() {
    return truncations.sum();
  }
}
