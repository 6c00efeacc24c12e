package dev.parley.stream;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.log.EventLog;
import dev.parley.protocol.Position;
import dev.parley.runtime.Time;
import java.time.Duration;

/// The dependencies of every stream.
public record StreamDependencies(
    EventLog log,
    FrameCache cache,
    OpenStreams streams,
    LiveStreams live,
    Metrics metrics,
    Time time,
    Duration heartbeat) {

  /// Counts a gap that is reported to a reader.
  public void countGap(String reason) {
    metrics.counter(Metric.GAPS, reason).increment();
  }

  /// Counts a reader that starts at `from`, and the past events that it is sent.
  public void countReplay(Position from, Position head) {
    if (head.after(from)) {
      metrics.counter(Metric.REPLAYS).increment();
      metrics.counter(Metric.REPLAYED).add(head.seq() - from.seq());
    }
  }
}
