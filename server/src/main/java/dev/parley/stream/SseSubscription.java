package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Runs a subscription whose sink is a stream of server-sent events.
final class SseSubscription {

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

  private SseSubscription() {}

  /// Sends events to `frameSink` until the stream ends.
  ///
  /// @param lag returns, on any thread, how many events follow a cursor
  /// @throws IOException if the reader has disconnected
  static <C> void run(
      StreamDependencies dependencies,
      Subscription.Source<C> source,
      Subscription.Encoder<C, Frames> encoder,
      ControlFrames<C> frames,
      C after,
      ToLongFunction<C> lag,
      FrameStream.FrameSink frameSink)
      throws IOException {
    try (var slot = dependencies.streams().open()) {
      frameSink.onPossibleDisconnect(slot::requestProbe);
      var subscription =
          new Subscription<>(
              new Subscription.Parts<>(
                  source,
                  encoder,
                  new SseSink<>(dependencies, frames, frameSink),
                  slot,
                  dependencies.time(),
                  dependencies.heartbeat()),
              after);
      slot.describe(OpenStreams.StreamKind.STREAM, () -> lag.applyAsLong(subscription.cursor()));
      subscription.run();
    } catch (InterruptedException told) {
      // An interrupt from outside: the stream ends, as it may at any time, and the reader
      // reconnects.
      Thread.currentThread().interrupt();
    }
  }

  private static final class SseSink<C> implements Subscription.Sink<C, Frames> {
    private final StreamDependencies dependencies;
    private final ControlFrames<C> frames;
    private final FrameStream.FrameSink frameSink;
    private final Metrics.Counter writes;
    private final Metrics.Counter bytes;

    SseSink(
        StreamDependencies dependencies, ControlFrames<C> frames, FrameStream.FrameSink frameSink) {
      this.dependencies = dependencies;
      this.frames = frames;
      this.frameSink = frameSink;
      this.writes = dependencies.metrics().counter(Metric.STREAM_WRITES);
      this.bytes = dependencies.metrics().counter(Metric.STREAM_BYTES);
    }

    @Override
    public boolean open(C start) throws IOException {
      return write(frames.open(start));
    }

    @Override
    public void send(Frames content) throws IOException {
      write(content.bytes());
      if (content.newest() != null) {
        dependencies.recordPublishLag(content.newest());
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
        write(ByteBuffer.wrap(frame));
      }
      return frame.length > 0;
    }

    private void write(ByteBuffer frame) throws IOException {
      writes.increment();
      bytes.add(frame.remaining());
      frameSink.write(frame);
    }
  }
}
