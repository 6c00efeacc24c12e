package dev.parley.door;

import dev.parley.protocol.ContextId;
import dev.parley.view.Feed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Supplier;

/// A stream of something that does not exist yet: waits until it exists, and then streams it.
public final class Arrival implements EventStream {

  private final Tail.Parts parts;
  private final Feed feed;
  private final ContextId context;
  private final Supplier<Optional<EventStream>> wanted;
  private final Pulse pulse;

  /// Calls `wanted` when the stream starts, and again after each change of the context.
  public Arrival(
      Tail.Parts parts, Feed feed, ContextId context, Supplier<Optional<EventStream>> wanted) {
    this.parts = parts;
    this.feed = feed;
    this.context = context;
    this.wanted = wanted;
    this.pulse = new Pulse(parts);
  }

  @Override
  public void run(Sink sink) throws IOException {
    var stream = wanted.get();
    if (stream.isEmpty()) {
      stream = await(sink);
    }
    if (stream.isPresent()) {
      stream.get().run(sink);
    }
  }

  /// Empty if the server stops.
  private Optional<EventStream> await(Sink sink) throws IOException {
    try (var open = parts.streams().open();
        var lookout = feed.lookout(context)) {
      sink.whenInDoubt(open::nudge);
      write(sink, Frames.nowhere());
      // Called once the lookout is registered: a change in between then ends the wait at once.
      for (var look = true; !open.ended(); ) {
        var stream = look ? wanted.get() : Optional.<EventStream>empty();
        if (stream.isPresent()) {
          return stream;
        }
        look = open.await(() -> lookout.await(pulse.patience()));
        if (open.nudged()) {
          Pulse.probe(() -> write(sink, Frames.heartbeat()));
        } else if (!open.ended() && pulse.due()) {
          write(sink, Frames.heartbeat());
        }
      }
    }
    return Optional.empty();
  }

  private void write(Sink sink, byte[] frames) throws IOException {
    sink.write(ByteBuffer.wrap(frames));
    pulse.said();
  }
}
