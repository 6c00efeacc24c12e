package dev.parley.log;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/// What the log has done since it was opened, for whoever measures.
public final class LogMetrics {

  private final LongAdder events = new LongAdder();
  private final LongAdder commits = new LongAdder();
  private final LongAdder commitNanos = new LongAdder();

  void committed(List<Ticket> batch, long nanos) {
    for (var ticket : batch) {
      events.add(ticket.events());
    }
    commits.increment();
    commitNanos.add(nanos);
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
}
