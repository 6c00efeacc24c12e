package dev.parley.door;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/// A reader of one context whose frames depend on what was told before: a position, a fold and a wait. As a
/// [Tail] it has no queue, and holds no lock while it writes.
///
/// Ends when its teller is done, when the context is deleted, when the server stops, or when the reader no
/// longer reads.
public final class ToldTail implements EventStream {

  private static final int PAGE = 256;

  /// Tells entries, one after the other. For one thread.
  public interface Teller {

    /// What is said before anything else, perhaps nothing.
    byte[] open();

    /// The frames of the next entry, perhaps none.
    byte[] tell(Entry entry);

    /// The id of the last frame, or of the place that was reached without one.
    String place();

    /// True if nothing more is to be told.
    ///
    /// @param all that there is now has been told
    boolean done(boolean all);

    /// What is said if the context is deleted, perhaps nothing.
    byte[] gone();
  }

  private final Tail.Parts parts;
  private final ContextId context;
  private final Teller teller;
  private final Pulse pulse;
  private Position position;

  /// Takes a reader in; the teller is told all that follows `after`.
  public ToldTail(Tail.Parts parts, ContextId context, Position after, Teller teller) {
    this.parts = parts;
    this.context = context;
    this.position = after;
    this.teller = teller;
    this.pulse = new Pulse(parts);
  }

  @Override
  public void run(Sink sink) throws IOException {
    try (var open = parts.streams().open()) {
      sink.whenInDoubt(open::nudge);
      write(sink, Frames.first(Frames.place(teller.place())));
      write(sink, teller.open());
      while (!open.ended() && !advance(sink)) {
        await(sink, open);
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      write(sink, teller.gone());
    }
  }

  /// Tells what there is. True if nothing more is to be told.
  private boolean advance(Sink sink) throws IOException {
    var head = parts.log().head(context);
    while (head.after(position)) {
      var frames = new ByteArrayOutputStream();
      for (var entry : parts.log().read(context, position, PAGE)) {
        position = entry.position();
        frames.writeBytes(teller.tell(entry));
        if (teller.done(false)) {
          write(sink, frames.toByteArray());
          return true;
        }
        if (frames.size() >= FramePage.BYTES) {
          break;
        }
      }
      write(sink, frames.toByteArray());
    }
    return teller.done(true);
  }

  private void await(Sink sink, Streams.Open open) throws IOException {
    if (open.await(() -> parts.log().await(context, position, pulse.patience()))) {
      return;
    }
    if (open.nudged()) {
      Pulse.probe(() -> beat(sink));
    } else if (!open.ended() && pulse.due()) {
      beat(sink);
    }
  }

  private void beat(Sink sink) throws IOException {
    write(sink, Frames.heartbeat(teller.place()));
  }

  private void write(Sink sink, byte[] frames) throws IOException {
    if (frames.length > 0) {
      sink.write(ByteBuffer.wrap(frames));
      pulse.said();
    }
  }
}
