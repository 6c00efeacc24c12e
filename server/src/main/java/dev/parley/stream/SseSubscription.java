package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.http.OpenStreams;
import java.io.IOException;
import java.util.function.ToLongFunction;

/// Runs a subscription whose sink is a stream of server-sent events.
final class SseSubscription {

  private SseSubscription() {}

  /// Sends events to `frameSink` until the stream ends.
  ///
  /// @param lag returns, on any thread, how many events follow a cursor
  /// @throws IOException if the reader has disconnected
  static <C> void run(
      StreamDependencies dependencies,
      Subscription.Source<C> source,
      Subscription.Encoder<C, SseSink.Frames> encoder,
      SseSink.ControlFrames<C> frames,
      C after,
      ToLongFunction<C> lag,
      FrameStream.FrameSink frameSink)
      throws IOException {
    var slot = dependencies.streams().open();
    var detached = false;
    try {
      frameSink.onPossibleDisconnect(slot::requestProbe);
      var sink = new SseSink<>(dependencies.metrics(), dependencies.time(), frames, frameSink);
      var subscription =
          new Subscription<>(
              new Subscription.Parts<>(
                  source, encoder, sink, slot, dependencies.time(), dependencies.heartbeat()),
              after);
      slot.describe(OpenStreams.StreamKind.STREAM, () -> lag.applyAsLong(subscription.cursor()));
      if (subscription.runUntilIdle()) {
        detached = new LiveStream(dependencies.live(), subscription, sink, slot).start(frameSink);
        if (!detached) {
          subscription.run();
        }
      }
    } catch (InterruptedException told) {
      // An interrupt from outside: the stream ends, as it may at any time, and the reader
      // reconnects.
      Thread.currentThread().interrupt();
    } finally {
      if (!detached) {
        slot.close();
      }
    }
  }
}
