package dev.parley.http;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A stream of one context: a position and a wait. There is no queue, so a slow reader costs no
/// memory, and a reader that reconnects continues where it was.
///
/// The stream holds no lock and no database statement while it writes. It ends when its task has
/// ended, when the context is deleted, when the server stops, or when the reader disconnects.
public final class ContextStream implements FrameStream {

  /// The dependencies of every stream.
  public record StreamDependencies(
      EventLog log,
      FrameCache cache,
      OpenStreams streams,
      Metrics metrics,
      InstantSource clock,
      Duration heartbeat) {

    /// Counts a gap that is reported to a reader.
    void countGap(String reason) {
      metrics.counter(Metric.GAPS, reason).increment();
    }

    /// Counts a reader that starts at `from`, and the past events that it is sent.
    void countReplay(Position from, Position head) {
      if (head.after(from)) {
        metrics.counter(Metric.REPLAYS).increment();
        metrics.counter(Metric.REPLAYED).add(head.seq() - from.seq());
      }
    }

    /// Records that a live reader was sent an event with this timestamp.
    void recordPublishLag(Instant time) {
      var lag = Duration.between(time, clock.instant());
      metrics.histogram(Metric.PUBLISH_LAG).record(Math.max(0, lag.toNanos()));
    }
  }

  /// The request of a reader. `untilTaskEnds` is the task with which the stream ends.
  public record StreamRequest(
      ContextId context,
      Position after,
      EventFilter filter,
      EventFormat format,
      boolean merge,
      @Nullable TaskId untilTaskEnds,
      @Nullable ObjectNode extraFields) {}

  private final StreamDependencies streamDependencies;
  private final StreamRequest streamRequest;
  private final Metrics.Counter writes;
  private final Metrics.Counter bytes;
  private final HeartbeatTimer heartbeatTimer;
  private volatile FrameBatch.ReadPosition readPosition;
  private boolean live;

  /// Creates the stream.
  public ContextStream(StreamDependencies streamDependencies, StreamRequest streamRequest) {
    this.streamDependencies = streamDependencies;
    this.streamRequest = streamRequest;
    this.heartbeatTimer = new HeartbeatTimer(streamDependencies);
    this.writes = streamDependencies.metrics().counter(Metric.STREAM_WRITES);
    this.bytes = streamDependencies.metrics().counter(Metric.STREAM_BYTES);
    this.readPosition = FrameBatch.ReadPosition.at(streamRequest.after());
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    try (var streamSlot = streamDependencies.streams().open()) {
      frameSink.onPossibleDisconnect(streamSlot::requestProbe);
      streamSlot.describe(OpenStreams.StreamKind.STREAM, this::lag);
      begin(frameSink);
      var more = true;
      while (more && !streamSlot.ended()) {
        more = advance(frameSink, streamSlot);
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      write(frameSink, ByteBuffer.wrap(gap("deleted", "")));
    } catch (InterruptedException told) {
      // An interrupt from outside: the stream ends, as it may at any time, and the reader
      // reconnects.
      Thread.currentThread().interrupt();
    }
  }

  /// Sends the start position, and a gap if the requested position does not exist yet.
  private void begin(FrameSink frameSink) throws IOException {
    var head = streamDependencies.log().head(streamRequest.context());
    var ahead = streamRequest.after().after(head);
    readPosition = ahead ? FrameBatch.ReadPosition.at(head) : readPosition;
    var streamOpening =
        new EventFormat.StreamOpening(
            streamRequest.context(),
            position(),
            streamDependencies.heartbeat(),
            streamRequest.extraFields());
    write(frameSink, ByteBuffer.wrap(streamRequest.format().open(streamOpening)));
    if (ahead) {
      var requested = streamRequest.after().toString();
      write(frameSink, ByteBuffer.wrap(gap("ahead-of-head", requested)));
    }
    streamDependencies.countReplay(position(), head);
  }

  /// Sends new events, or a heartbeat if there are none. False at the end of the stream.
  private boolean advance(FrameSink frameSink, OpenStreams.StreamSlot streamSlot)
      throws IOException, InterruptedException {
    if (!streamSlot.await(
        () ->
            streamDependencies
                .log()
                .await(streamRequest.context(), position(), heartbeatTimer.timeToNext()))) {
      if (streamSlot.takeProbeRequest()) {
        HeartbeatTimer.probe(() -> heartbeat(frameSink));
      } else if (!streamSlot.ended() && streamDependencies.heartbeat().isPositive()) {
        heartbeat(frameSink);
      }
      return true;
    }
    var head = streamDependencies.log().head(streamRequest.context());
    var frameBatch = FrameBatch.next(streamDependencies, streamRequest, readPosition, head);
    readPosition = frameBatch.reached();
    if (frameBatch.frames().hasRemaining()) {
      write(frameSink, frameBatch.frames());
      if (live) {
        streamDependencies.recordPublishLag(frameBatch.newest());
      }
    } else if (heartbeatTimer.due()) {
      heartbeat(frameSink);
    }
    live = !head.after(position());
    return !frameBatch.last();
  }

  private byte[] gap(String reason, String requested) {
    streamDependencies.countGap(reason);
    return streamRequest.format().gap(position(), reason, requested);
  }

  private long lag() {
    return streamDependencies.log().head(streamRequest.context()).seq() - position().seq();
  }

  private Position position() {
    return readPosition.position();
  }

  private void heartbeat(FrameSink frameSink) throws IOException {
    write(frameSink, ByteBuffer.wrap(SseFrames.heartbeat(position())));
  }

  private void write(FrameSink frameSink, ByteBuffer frames) throws IOException {
    writes.increment();
    bytes.add(frames.remaining());
    frameSink.write(frames);
    heartbeatTimer.reset();
  }
}
