package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/// A stream of one context whose frames depend on earlier frames.
///
/// It ends when its encoder ends, when the context is deleted, when the server stops, or when the
/// reader disconnects. For one thread at a time.
public final class ProjectedStream
    implements FrameStream,
        Subscription.Encoder<Position, SseSink.Frames>,
        SseSink.ControlFrames<Position> {

  private static final int READ = 256;

  /// Encodes entries, one after the other. Its state must be small.
  public interface EntryEncoder {

    /// The first bytes of the stream; may be empty.
    byte[] open();

    /// The frames of an entry; may be empty.
    byte[] frames(Entry entry);

    /// True if the stream has ended.
    ///
    /// @param atEnd whether all present entries were encoded
    boolean ended(boolean atEnd);

    /// A heartbeat, which keeps the connection open.
    byte[] heartbeat();

    /// The last bytes of the stream if its context is deleted; may be empty.
    default byte[] deleted() {
      return new byte[0];
    }
  }

  private final StreamDependencies dependencies;
  private final ContextSource source;
  private final Position after;
  private final EntryEncoder encoder;

  /// Creates the stream of a reader that has everything up to `after`.
  public ProjectedStream(
      StreamDependencies dependencies,
      ContextId context,
      Position after,
      EntryEncoder entryEncoder) {
    this.dependencies = dependencies;
    this.source = new ContextSource(dependencies.log(), context);
    this.after = after;
    this.encoder = entryEncoder;
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    SseSubscription.run(dependencies, source, this, this, after, source::lag, frameSink);
  }

  @Override
  public boolean ended(Position position) {
    return encoder.ended(!source.log().head(source.context()).after(position));
  }

  /// The frames of the next entries, about one page.
  @Override
  public Subscription.Batch<Position, SseSink.Frames> next(Position from) {
    var frames = new ByteArrayOutputStream();
    var position = from;
    for (var entry : source.log().read(source.context(), from, READ)) {
      if (encoder.ended(false) || frames.size() >= FramePage.BYTES) {
        break;
      }
      frames.writeBytes(encoder.frames(entry));
      position = entry.position();
    }
    return new Subscription.Batch<>(SseSink.Frames.of(frames.toByteArray()), position);
  }

  @Override
  public byte[] open(Position start) {
    dependencies.countReplay(start, source.log().head(source.context()));
    return encoder.open();
  }

  @Override
  public byte[] heartbeat(Position position) {
    return encoder.heartbeat();
  }

  @Override
  public byte[] deleted(Position position) {
    return encoder.deleted();
  }
}
