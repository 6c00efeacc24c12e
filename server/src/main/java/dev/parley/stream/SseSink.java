package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Sends server-sent events to a reader. For one thread at a time.
final class SseSink<C> implements Subscription.Sink<C, SseSink.Frames> {

  /// Frames for one write. `newest` is the time of the last event, if the reader was up to date
  /// before it.
  record Frames(ByteBuffer bytes, @Nullable Instant newest) {

    /// Null if there are none.
    static @Nullable Frames of(byte[] bytes) {
      return bytes.length == 0 ? null : new Frames(ByteBuffer.wrap(bytes), null);
    }
  }

  /// The frames of a stream that are not events. Each may be empty.
  interface ControlFrames<C> {

    byte[] NONE = {};

    /// The first frame.
    byte[] open(C start);

    /// A heartbeat, which keeps the connection open.
    byte[] heartbeat(C cursor);

    /// Reports missing events.
    default byte[] gap(C cursor, C requested) {
      return NONE;
    }

    /// The last frame, if the context was deleted.
    default byte[] deleted(C cursor) {
      return NONE;
    }
  }

  private final Time time;
  private final ControlFrames<C> frames;
  private FrameStream.FrameSink frameSink;
  private final Metrics.Counter writes;
  private final Metrics.Counter bytes;
  private final Metrics.Histogram publishLag;

  SseSink(Metrics metrics, Time time, ControlFrames<C> frames, FrameStream.FrameSink frameSink) {
    this.time = time;
    this.frames = frames;
    this.frameSink = frameSink;
    this.writes = metrics.counter(Metric.STREAM_WRITES);
    this.bytes = metrics.counter(Metric.STREAM_BYTES);
    this.publishLag = metrics.histogram(Metric.PUBLISH_LAG);
  }

  @Override
  public boolean open(C start) throws IOException {
    return write(frames.open(start));
  }

  /// Sends everything else to this connection.
  void detached(FrameStream.DetachedSink connection) {
    frameSink = connection;
  }

  @Override
  public void send(Frames content) throws IOException {
    frameSink.write(content.bytes().duplicate());
    recordSent(content);
  }

  /// Counts content that was sent.
  void recordSent(Frames content) {
    count(content.bytes());
    if (content.newest() != null) {
      var lag = Duration.between(content.newest(), time.instant());
      publishLag.record(Math.max(0, lag.toNanos()));
    }
  }

  @Override
  public void gap(C cursor, C requested) throws IOException {
    write(frames.gap(cursor, requested));
  }

  @Override
  public void deleted(C cursor) throws IOException {
    write(frames.deleted(cursor));
  }

  @Override
  public void heartbeat(C cursor) throws IOException {
    write(frames.heartbeat(cursor));
  }

  private boolean write(byte[] frame) throws IOException {
    if (frame.length > 0) {
      var buffer = ByteBuffer.wrap(frame);
      count(buffer);
      frameSink.write(buffer);
    }
    return frame.length > 0;
  }

  private void count(ByteBuffer sent) {
    writes.increment();
    bytes.add(sent.remaining());
  }
}
