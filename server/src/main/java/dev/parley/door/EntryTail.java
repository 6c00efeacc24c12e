package dev.parley.door;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/// A stream of one context whose frames depend on earlier frames.
///
/// Like a [Tail] it is a position and a wait, and holds no lock while it writes. The state of its
/// `Script` must be small. It ends when the script ends, when the context is deleted, when the
/// server stops, or when the reader disconnects. For one thread.
public final class EntryTail implements EventStream {

  private static final int READ = 256;

  /// Encodes entries, one after the other.
  public interface Script {

    /// The first bytes of the stream; may be empty.
    byte[] open();

    /// The frames of an entry; may be empty.
    byte[] frames(Entry entry);

    /// True if the stream has ended.
    ///
    /// @param all whether all present entries were encoded
    boolean ended(boolean all);

    /// A heartbeat, which keeps the connection open.
    byte[] heartbeat();

    /// The last bytes of the stream if its context is deleted; may be empty.
    byte[] gone();
  }

  private final Tail.Parts parts;
  private final ContextId context;
  private final Script script;
  private final Pulse pulse;
  private volatile Position position;

  /// Creates the stream of a reader that has everything up to `after`.
  public EntryTail(Tail.Parts parts, ContextId context, Position after, Script script) {
    this.parts = parts;
    this.context = context;
    this.position = after;
    this.script = script;
    this.pulse = new Pulse(parts);
  }

  @Override
  public void run(Sink sink) throws IOException {
    try (var open = parts.streams().open()) {
      sink.whenInDoubt(open::nudge);
      open.reads(Streams.Kind.STREAM, this::lag);
      parts.began(position, parts.log().head(context));
      write(sink, script.open());
      while (!script.ended(all()) && !open.ended()) {
        advance(sink, open);
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      write(sink, script.gone());
    }
  }

  private long lag() {
    return parts.log().head(context).seq() - position.seq();
  }

  private boolean all() {
    return !parts.log().head(context).after(position);
  }

  private void advance(Sink sink, Streams.Open open) throws IOException {
    if (open.await(() -> parts.log().await(context, position, pulse.patience()))) {
      write(sink, next());
      if (pulse.due()) {
        beat(sink);
      }
    } else if (open.nudged()) {
      Pulse.probe(() -> beat(sink));
    } else if (!open.ended() && pulse.due()) {
      beat(sink);
    }
  }

  /// The frames of the next entries, about one page.
  private byte[] next() {
    var frames = new ByteArrayOutputStream();
    for (var entry : parts.log().read(context, position, READ)) {
      if (script.ended(false) || frames.size() >= FramePage.BYTES) {
        break;
      }
      frames.writeBytes(script.frames(entry));
      position = entry.position();
    }
    return frames.toByteArray();
  }

  private void beat(Sink sink) throws IOException {
    write(sink, script.heartbeat());
  }

  private void write(Sink sink, byte[] frames) throws IOException {
    if (frames.length > 0) {
      sink.write(ByteBuffer.wrap(frames));
      pulse.said();
    }
  }
}
