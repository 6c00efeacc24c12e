package dev.parley.door;

import dev.parley.door.FeedReader.Seen;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.Feed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/// A stream of all contexts of some owners: a cursor and a wait, as a [Tail] is for one context.
///
/// A reader whose cursor is too old gets a gap frame, and the stream continues with new entries. It
/// ends when the server stops, or when the reader disconnects.
public final class FeedTail implements EventStream {

  /// Encodes the stream for a reader.
  public interface Writing {

    /// The frames of an entry, or of the deletion of a context, each with its own id; may be empty.
    List<byte[]> frames(Seen seen);

    /// The first frame, with the cursor at which the stream starts.
    byte[] open(Feed.Cursor cursor);

    /// Reports that the stream continues at `cursor` and that entries after `requested` are
    /// missing.
    byte[] gap(Feed.Cursor cursor, Feed.Cursor requested);
  }

  /// The request of a reader. Of the entry that ends at `after`, the reader has the first `part`
  /// frames, or all frames if that is zero.
  public record Wish(Set<String> owners, Feed.Cursor after, int part, Writing writing) {
    public Wish {
      owners = Set.copyOf(owners);
    }
  }

  private final Tail.Parts parts;
  private final Feed feed;
  private final Wish wish;
  private final Pulse pulse;
  private FeedReader reader;
  private Feed.Cursor cursor;

  /// Creates the stream.
  public FeedTail(Tail.Parts parts, Feed feed, Wish wish) {
    this.parts = parts;
    this.feed = feed;
    this.wish = wish;
    this.pulse = new Pulse(parts);
    this.cursor = wish.part() == 0 ? wish.after() : before(wish.after());
    this.reader = reader(cursor);
  }

  /// Right before the entry that ends at `cursor`.
  private static Feed.Cursor before(Feed.Cursor cursor) {
    var within = cursor.within();
    if (within == null || within.seq() < 1) {
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream");
    }
    return cursor.within(new Position(within.seq() - 1, Integer.MAX_VALUE));
  }

  @Override
  public void run(Sink sink) throws IOException {
    try (var open = parts.streams().open()) {
      sink.whenInDoubt(open::nudge);
      open.reads(Streams.Kind.STREAM, () -> 0);
      write(sink, wish.writing().open(cursor));
      while (!open.ended()) {
        if (open.await(() -> reader.await(pulse.patience()))) {
          advance(sink);
        } else if (open.nudged()) {
          Pulse.probe(() -> beat(sink));
        } else if (!open.ended() && pulse.due()) {
          beat(sink);
        }
      }
    }
  }

  private void advance(Sink sink) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try {
      for (var seen : reader.read()) {
        cursor = seen.cursor();
        frames(seen).forEach(bytes::writeBytes);
      }
    } catch (Rejection.Invalid lost) {
      parts.gap("cursor-too-old");
      var requested = cursor;
      cursor = feed.end();
      reader = reader(cursor);
      bytes.writeBytes(wish.writing().gap(cursor, requested));
    }
    cursor = reader.reached().orElse(cursor);
    if (bytes.size() > 0) {
      write(sink, bytes.toByteArray());
    } else if (pulse.due()) {
      beat(sink);
    }
  }

  private List<byte[]> frames(Seen seen) {
    List<byte[]> frames;
    try {
      frames = wish.writing().frames(seen);
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged unreadable) {
      // The deletion follows later, as a separate move.
      return List.of();
    }
    var read = seen.cursor().equals(wish.after()) ? Math.min(wish.part(), frames.size()) : 0;
    return frames.subList(read, frames.size());
  }

  private FeedReader reader(Feed.Cursor from) {
    return new FeedReader(parts.log(), feed, wish.owners(), from);
  }

  private void beat(Sink sink) throws IOException {
    write(sink, Frames.heartbeat(cursor.toString()));
  }

  private void write(Sink sink, byte[] frames) throws IOException {
    sink.write(ByteBuffer.wrap(frames));
    pulse.said();
  }
}
