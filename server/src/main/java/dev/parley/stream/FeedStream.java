package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.projection.ContextFeed;
import dev.parley.projection.ContextFeed.FeedCursor;
import dev.parley.projection.VisibleContexts;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

/// A stream of all contexts that a reader may see.
///
/// A reader whose cursor is too old gets a gap frame, and the stream continues with new entries. It
/// ends when the server stops, or when the reader disconnects. For one thread at a time.
public final class FeedStream
    implements FrameStream,
        Subscription.Encoder<FeedCursor, SseSink.Frames>,
        SseSink.ControlFrames<FeedCursor> {

  /// Encodes the stream for a reader.
  public interface FeedEncoder {

    /// The frames of an entry, or of the deletion of a context, each with its own id; may be empty.
    List<byte[]> frames(FeedSource.FeedItem feedItem);

    /// The first frame, with the cursor at which the stream starts.
    byte[] open(FeedCursor feedCursor);

    /// Reports that the stream continues at `cursor` and that entries after `requested` are
    /// missing.
    byte[] gap(FeedCursor feedCursor, FeedCursor requested);
  }

  /// The request of a reader. Of the entry that ends at `after`, the reader has the first `part`
  /// frames, or all frames if that is zero.
  public record FeedStreamRequest(
      Supplier<VisibleContexts> visible, FeedCursor after, int part, FeedEncoder encoder) {}

  private final StreamDependencies dependencies;
  private final FeedStreamRequest request;
  private final FeedCursor start;
  private final FeedSource source;

  public FeedStream(
      StreamDependencies dependencies, ContextFeed contextFeed, FeedStreamRequest request) {
    this.dependencies = dependencies;
    this.request = request;
    this.start = request.part() == 0 ? request.after() : before(request.after());
    this.source = new FeedSource(dependencies.log(), contextFeed, request.visible(), start);
  }

  /// Right before the entry that ends at `cursor`.
  private static FeedCursor before(FeedCursor feedCursor) {
    var within = feedCursor.within();
    if (within == null || within.seq() < 1) {
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream");
    }
    return feedCursor.within(new Position(within.seq() - 1, Integer.MAX_VALUE));
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    SseSubscription.run(dependencies, source, this, this, start, _ -> 0, frameSink);
  }

  @Override
  public Subscription.Batch<FeedCursor, SseSink.Frames> next(FeedCursor from) {
    var bytes = new ByteArrayOutputStream();
    var cursor = from;
    for (var feedItem : source.read()) {
      cursor = feedItem.cursor();
      frames(feedItem).forEach(bytes::writeBytes);
    }
    return new Subscription.Batch<>(
        SseSink.Frames.of(bytes.toByteArray()), source.reached().orElse(cursor));
  }

  private List<byte[]> frames(FeedSource.FeedItem feedItem) {
    List<byte[]> frames;
    try {
      frames = request.encoder().frames(feedItem);
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged unreadable) {
      // The deletion follows later, as a separate move.
      return List.of();
    }
    var read =
        feedItem.cursor().equals(request.after()) ? Math.min(request.part(), frames.size()) : 0;
    return frames.subList(read, frames.size());
  }

  @Override
  public byte[] open(FeedCursor cursor) {
    return request.encoder().open(cursor);
  }

  @Override
  public byte[] heartbeat(FeedCursor cursor) {
    return SseFrames.heartbeat(cursor.toString());
  }

  @Override
  public byte[] gap(FeedCursor cursor, FeedCursor requested) {
    dependencies.countGap("cursor-too-old");
    return request.encoder().gap(cursor, requested);
  }
}
