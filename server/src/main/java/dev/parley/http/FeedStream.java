package dev.parley.http;

import dev.parley.http.FeedReader.FeedItem;
import dev.parley.projection.ContextFeed;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/// A stream of all contexts of some owners: a cursor and a wait, as a [ContextStream] is for one context.
///
/// A reader whose cursor is too old gets a gap frame, and the stream continues with new entries. It
/// ends when the server stops, or when the reader disconnects.
public final class FeedStream implements FrameStream {

  /// Encodes the stream for a reader.
  public interface FeedEncoder {

    /// The frames of an entry, or of the deletion of a context, each with its own id; may be empty.
    List<byte[]> frames(FeedItem feedItem);

    /// The first frame, with the cursor at which the stream starts.
    byte[] open(ContextFeed.FeedCursor feedCursor);

    /// Reports that the stream continues at `cursor` and that entries after `requested` are
    /// missing.
    byte[] gap(ContextFeed.FeedCursor feedCursor, ContextFeed.FeedCursor requested);
  }

  /// The request of a reader. Of the entry that ends at `after`, the reader has the first `part`
  /// frames, or all frames if that is zero.
  public record FeedStreamRequest(
      Set<String> owners, ContextFeed.FeedCursor after, int part, FeedEncoder encoder) {
    public FeedStreamRequest {
      owners = Set.copyOf(owners);
    }
  }

  private final ContextStream.StreamDependencies streamDependencies;
  private final ContextFeed contextFeed;
  private final FeedStreamRequest feedStreamRequest;
  private final HeartbeatTimer heartbeatTimer;
  private FeedReader reader;
  private ContextFeed.FeedCursor feedCursor;

  /// Creates the stream.
  public FeedStream(
      ContextStream.StreamDependencies streamDependencies,
      ContextFeed contextFeed,
      FeedStreamRequest feedStreamRequest) {
    this.streamDependencies = streamDependencies;
    this.contextFeed = contextFeed;
    this.feedStreamRequest = feedStreamRequest;
    this.heartbeatTimer = new HeartbeatTimer(streamDependencies);
    this.feedCursor =
        feedStreamRequest.part() == 0
            ? feedStreamRequest.after()
            : before(feedStreamRequest.after());
    this.reader = reader(feedCursor);
  }

  /// Right before the entry that ends at `cursor`.
  private static ContextFeed.FeedCursor before(ContextFeed.FeedCursor feedCursor) {
    var within = feedCursor.within();
    if (within == null || within.seq() < 1) {
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream");
    }
    return feedCursor.within(new Position(within.seq() - 1, Integer.MAX_VALUE));
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    try (var streamSlot = streamDependencies.streams().open()) {
      frameSink.onPossibleDisconnect(streamSlot::requestProbe);
      streamSlot.describe(OpenStreams.StreamKind.STREAM, () -> 0);
      write(frameSink, feedStreamRequest.encoder().open(feedCursor));
      while (!streamSlot.ended()) {
        if (streamSlot.await(() -> reader.await(heartbeatTimer.timeToNext()))) {
          advance(frameSink);
        } else if (streamSlot.takeProbeRequest()) {
          HeartbeatTimer.probe(() -> heartbeat(frameSink));
        } else if (!streamSlot.ended() && heartbeatTimer.due()) {
          heartbeat(frameSink);
        }
      }
    }
  }

  private void advance(FrameSink frameSink) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try {
      for (var feedItem : reader.read()) {
        feedCursor = feedItem.cursor();
        frames(feedItem).forEach(bytes::writeBytes);
      }
    } catch (Rejection.Invalid lost) {
      streamDependencies.countGap("cursor-too-old");
      var requested = feedCursor;
      feedCursor = contextFeed.end();
      reader = reader(feedCursor);
      bytes.writeBytes(feedStreamRequest.encoder().gap(feedCursor, requested));
    }
    feedCursor = reader.reached().orElse(feedCursor);
    if (bytes.size() > 0) {
      write(frameSink, bytes.toByteArray());
    } else if (heartbeatTimer.due()) {
      heartbeat(frameSink);
    }
  }

  private List<byte[]> frames(FeedItem feedItem) {
    List<byte[]> frames;
    try {
      frames = feedStreamRequest.encoder().frames(feedItem);
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged unreadable) {
      // The deletion follows later, as a separate move.
      return List.of();
    }
    var read =
        feedItem.cursor().equals(feedStreamRequest.after())
            ? Math.min(feedStreamRequest.part(), frames.size())
            : 0;
    return frames.subList(read, frames.size());
  }

  private FeedReader reader(ContextFeed.FeedCursor from) {
    return new FeedReader(streamDependencies.log(), contextFeed, feedStreamRequest.owners(), from);
  }

  private void heartbeat(FrameSink frameSink) throws IOException {
    write(frameSink, SseFrames.heartbeat(feedCursor.toString()));
  }

  private void write(FrameSink frameSink, byte[] frames) throws IOException {
    frameSink.write(ByteBuffer.wrap(frames));
    heartbeatTimer.reset();
  }
}
