package dev.parley.log;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/// What the log has done since it was opened, for whoever measures.
public final class LogMetrics {

  private final LongAdder events = new LongAdder();
  private final LongAdder commits = new LongAdder();
  private final LongAdder commitNanos = new LongAdder();
  private final LongAdder erasedBytes = new LongAdder();
  private final LongAdder truncations = new LongAdder();
  private volatile LongConsumer listener = _ -> {};

  void committed(List<Ticket> batch, long nanos) {
    for (var ticket : batch) {
      events.add(ticket.events());
    }
    commits.increment();
    commitNanos.add(nanos);
    listener.accept(nanos);
  }

  /// Has `listener` called with the nanoseconds of every commit, on the writer's thread.
  public void whenCommitted(LongConsumer listener) {
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

  /// Commits they took.
  public long commits() {
    return commits.sum();
  }

  /// Time the commits took.
  public long commitNanos() {
    return commitNanos.sum();
  }

  /// Bytes of rows that were removed because their context was deleted.
  public long erasedBytes() {
    return erasedBytes.sum();
  }

  /// How often the write-ahead log was emptied, so that nothing of deleted contexts is left in it.
  public long truncations() {
    return truncations.sum();
  }
}
