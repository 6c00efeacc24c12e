package dev.parley.door;

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
public final class Tail implements EventStream {

  /// The dependencies of every stream.
  public record Parts(
      EventLog log,
      FrameCache cache,
      Streams streams,
      Metrics metrics,
      InstantSource clock,
      Duration heartbeat) {

    /// Counts a gap that is reported to a reader.
    void gap(String reason) {
      metrics.counter(Metric.GAPS, reason).increment();
    }

    /// Counts a reader that starts at `from`, and the past events that it is sent.
    void began(Position from, Position head) {
      if (head.after(from)) {
        metrics.counter(Metric.REPLAYS).increment();
        metrics.counter(Metric.REPLAYED).add(head.seq() - from.seq());
      }
    }

    /// Records that a live reader was sent an event with this timestamp.
    void published(Instant time) {
      var lag = Duration.between(time, clock.instant());
      metrics.histogram(Metric.PUBLISH_LAG).record(Math.max(0, lag.toNanos()));
    }
  }

  /// The request of a reader. `untilTaskEnds` is the task with which the stream ends.
  public record Wish(
      ContextId context,
      Position after,
      EventFilter filter,
      Format format,
      boolean merge,
      @Nullable TaskId until,
      @Nullable ObjectNode greeting) {}

  private final Parts parts;
  private final Wish wish;
  private final Metrics.Counter writes;
  private final Metrics.Counter bytes;
  private final Pulse pulse;
  private volatile Batch.Place place;
  private boolean live;

  /// Creates the stream.
  public Tail(Parts parts, Wish wish) {
    this.parts = parts;
    this.wish = wish;
    this.pulse = new Pulse(parts);
    this.writes = parts.metrics().counter(Metric.STREAM_WRITES);
    this.bytes = parts.metrics().counter(Metric.STREAM_BYTES);
    this.place = Batch.Place.at(wish.after());
  }

  @Override
  public void run(Sink sink) throws IOException {
    try (var open = parts.streams().open()) {
      sink.whenInDoubt(open::nudge);
      open.reads(Streams.Kind.STREAM, this::lag);
      begin(sink);
      var more = true;
      while (more && !open.ended()) {
        more = advance(sink, open);
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      write(sink, ByteBuffer.wrap(gap("deleted", "")));
    } catch (InterruptedException told) {
      // An interrupt from outside: the stream ends, as it may at any time, and the reader
      // reconnects.
      Thread.currentThread().interrupt();
    }
  }

  /// Sends the start position, and a gap if the requested position does not exist yet.
  private void begin(Sink sink) throws IOException {
    var head = parts.log().head(wish.context());
    var ahead = wish.after().after(head);
    place = ahead ? Batch.Place.at(head) : place;
    var opening =
        new Format.Opening(wish.context(), position(), parts.heartbeat(), wish.greeting());
    write(sink, ByteBuffer.wrap(wish.format().open(opening)));
    if (ahead) {
      var requested = wish.after().toString();
      write(sink, ByteBuffer.wrap(gap("ahead-of-head", requested)));
    }
    parts.began(position(), head);
  }

  /// Sends new events, or a heartbeat if there are none. False at the end of the stream.
  private boolean advance(Sink sink, Streams.Open open) throws IOException, InterruptedException {
    if (!open.await(() -> parts.log().await(wish.context(), position(), pulse.patience()))) {
      if (open.nudged()) {
        Pulse.probe(() -> heartbeat(sink));
      } else if (!open.ended() && parts.heartbeat().isPositive()) {
        heartbeat(sink);
      }
      return true;
    }
    var head = parts.log().head(wish.context());
    var batch = Batch.next(parts, wish, place, head);
    place = batch.place();
    if (batch.frames().hasRemaining()) {
      write(sink, batch.frames());
      if (live) {
        parts.published(batch.newest());
      }
    } else if (pulse.due()) {
      heartbeat(sink);
    }
    live = !head.after(position());
    return !batch.last();
  }

  private byte[] gap(String reason, String requested) {
    parts.gap(reason);
    return wish.format().gap(position(), reason, requested);
  }

  private long lag() {
    return parts.log().head(wish.context()).seq() - position().seq();
  }

  private Position position() {
    return place.position();
  }

  private void heartbeat(Sink sink) throws IOException {
    write(sink, ByteBuffer.wrap(Frames.heartbeat(position())));
  }

  private void write(Sink sink, ByteBuffer frames) throws IOException {
    writes.increment();
    bytes.add(frames.remaining());
    sink.write(frames);
    pulse.said();
  }
}
