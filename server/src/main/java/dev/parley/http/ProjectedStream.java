package dev.parley.http;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/// A stream of one context whose frames depend on earlier frames.
///
/// Like a [ContextStream] it is a position and a wait, and holds no lock while it writes. The state of its
/// `EntryEncoder` must be small. It ends when the script ends, when the context is deleted, when the
/// server stops, or when the reader disconnects. For one thread.
public final class ProjectedStream implements FrameStream {

  private static final int READ = 256;

  /// Encodes entries, one after the other.
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
    byte[] deleted();
  }

  private final ContextStream.StreamDependencies streamDependencies;
  private final ContextId context;
  private final EntryEncoder encoder;
  private final HeartbeatTimer heartbeatTimer;
  private volatile Position position;

  /// Creates the stream of a reader that has everything up to `after`.
  public ProjectedStream(
      ContextStream.StreamDependencies streamDependencies,
      ContextId context,
      Position after,
      EntryEncoder entryEncoder) {
    this.streamDependencies = streamDependencies;
    this.context = context;
    this.position = after;
    this.encoder = entryEncoder;
    this.heartbeatTimer = new HeartbeatTimer(streamDependencies);
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    try (var streamSlot = streamDependencies.streams().open()) {
      frameSink.onPossibleDisconnect(streamSlot::requestProbe);
      streamSlot.describe(OpenStreams.StreamKind.STREAM, this::lag);
      streamDependencies.countReplay(position, streamDependencies.log().head(context));
      write(frameSink, encoder.open());
      while (!encoder.ended(atEnd()) && !streamSlot.ended()) {
        advance(frameSink, streamSlot);
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      write(frameSink, encoder.deleted());
    }
  }

  private long lag() {
    return streamDependencies.log().head(context).seq() - position.seq();
  }

  private boolean atEnd() {
    return !streamDependencies.log().head(context).after(position);
  }

  private void advance(FrameSink frameSink, OpenStreams.StreamSlot streamSlot) throws IOException {
    if (streamSlot.await(
        () -> streamDependencies.log().await(context, position, heartbeatTimer.timeToNext()))) {
      write(frameSink, next());
      if (heartbeatTimer.due()) {
        heartbeat(frameSink);
      }
    } else if (streamSlot.takeProbeRequest()) {
      HeartbeatTimer.probe(() -> heartbeat(frameSink));
    } else if (!streamSlot.ended() && heartbeatTimer.due()) {
      heartbeat(frameSink);
    }
  }

  /// The frames of the next entries, about one page.
  private byte[] next() {
    var frames = new ByteArrayOutputStream();
    for (var entry : streamDependencies.log().read(context, position, READ)) {
      if (encoder.ended(false) || frames.size() >= FramePage.BYTES) {
        break;
      }
      frames.writeBytes(encoder.frames(entry));
      position = entry.position();
    }
    return frames.toByteArray();
  }

  private void heartbeat(FrameSink frameSink) throws IOException {
    write(frameSink, encoder.heartbeat());
  }

  private void write(FrameSink frameSink, byte[] frames) throws IOException {
    if (frames.length > 0) {
      frameSink.write(ByteBuffer.wrap(frames));
      heartbeatTimer.reset();
    }
  }
}
