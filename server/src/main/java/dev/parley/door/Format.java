package dev.parley.door;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// How events are written for a reader.
///
/// What an entry looks like depends on nothing but the log up to that entry, so it is written once for
/// all readers. Frames are kept by the format's identity: have one of each. For many threads.
public interface Format {

  /// Parley's own.
  Format NATIVE = new NativeFormat();

  /// What a stream begins with.
  record Opening(
      ContextId context, Position position, Duration heartbeat, @Nullable ObjectNode greeting) {}

  /// The entry as JSON.
  byte[] json(Entry entry);

  /// The entry as a frame, or as several, or as none: then this is empty.
  byte[] frame(Entry entry);

  /// Several deltas as one frame, which stands where the last of them does; `from` is the first one's
  /// seq.
  byte[] merged(Entry entry, long from);

  /// Tells the reader where it stands before anything has happened.
  byte[] open(Opening opening);

  /// Tells the reader that it does not get what it asked for, which is empty if it asked for nothing.
  byte[] gap(Position position, String reason, String requested);
}
