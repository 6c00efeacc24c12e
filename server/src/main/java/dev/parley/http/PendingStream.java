package dev.parley.http;

import dev.parley.projection.ContextFeed;
import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Supplier;

/// A stream of something that does not exist yet: waits until it exists, and then streams it.
public final class PendingStream implements FrameStream {

  private final ContextStream.StreamDependencies streamDependencies;
  private final ContextFeed contextFeed;
  private final ContextId context;
  private final Supplier<Optional<FrameStream>> lookup;
  private final HeartbeatTimer heartbeatTimer;

  /// Calls `wanted` when the stream starts, and again after each change of the context.
  public PendingStream(
      ContextStream.StreamDependencies streamDependencies,
      ContextFeed contextFeed,
      ContextId context,
      Supplier<Optional<FrameStream>> wanted) {
    this.streamDependencies = streamDependencies;
    this.contextFeed = contextFeed;
    this.context = context;
    this.lookup = wanted;
    this.heartbeatTimer = new HeartbeatTimer(streamDependencies);
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    var stream = lookup.get();
    if (stream.isEmpty()) {
      stream = await(frameSink);
    }
    if (stream.isPresent()) {
      stream.get().run(frameSink);
    }
  }

  /// Empty if the server stops.
  private Optional<FrameStream> await(FrameSink frameSink) throws IOException {
    try (var streamSlot = streamDependencies.streams().open();
        var contextWatcher = contextFeed.watch(context)) {
      frameSink.onPossibleDisconnect(streamSlot::requestProbe);
      write(frameSink, SseFrames.empty());
      // Called once the lookout is registered: a change in between then ends the wait at once.
      for (var look = true; !streamSlot.ended(); ) {
        var stream = look ? lookup.get() : Optional.<FrameStream>empty();
        if (stream.isPresent()) {
          return stream;
        }
        look = streamSlot.await(() -> contextWatcher.await(heartbeatTimer.timeToNext()));
        if (streamSlot.takeProbeRequest()) {
          HeartbeatTimer.probe(() -> write(frameSink, SseFrames.heartbeat()));
        } else if (!streamSlot.ended() && heartbeatTimer.due()) {
          write(frameSink, SseFrames.heartbeat());
        }
      }
    }
    return Optional.empty();
  }

  private void write(FrameSink frameSink, byte[] frames) throws IOException {
    frameSink.write(ByteBuffer.wrap(frames));
    heartbeatTimer.reset();
  }
}
