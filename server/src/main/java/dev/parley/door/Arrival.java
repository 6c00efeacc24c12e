package dev.parley.door;

import dev.parley.view.Feed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// A reader of what does not exist yet: waits until it does, and then reads it.
public final class Arrival implements EventStream {

  private static final Duration FOR_EVER = Duration.ofDays(1);

  private final Tail.Parts parts;
  private final Feed feed;
  private final Supplier<Optional<EventStream>> wanted;
  private long quietSince;

  /// `wanted` is asked now, and again whenever something has happened in any context.
  public Arrival(Tail.Parts parts, Feed feed, Supplier<Optional<EventStream>> wanted) {
    this.parts = parts;
    this.feed = feed;
    this.wanted = wanted;
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
    try (var open = parts.streams().open()) {
      write(sink, Frames.nowhere());
      while (!open.ended()) {
        // Known before it is asked for: what comes in between ends the wait at once.
        var known = feed.known();
        var stream = wanted.get();
        if (stream.isPresent()) {
          return stream;
        }
        open.await(() -> feed.await(known, patience()));
        if (!open.ended() && !patience().isPositive()) {
          write(sink, Frames.heartbeat());
        }
      }
    }
    return Optional.empty();
  }

  /// The time to the next heartbeat. A clock that jumps makes one early or late, no more.
  private Duration patience() {
    if (!parts.heartbeat().isPositive()) {
      return FOR_EVER;
    }
    var interval = parts.heartbeat().toMillis();
    var left = interval - (parts.clock().millis() - quietSince);
    return Duration.ofMillis(Math.clamp(left, 0, interval));
  }

  private void write(Sink sink, byte[] frames) throws IOException {
    sink.write(ByteBuffer.wrap(frames));
    quietSince = parts.clock().millis();
  }
}
