package dev.parley.stream;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EntryJsonWriter;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes events for readers.
///
/// The encoding of an entry depends only on the log up to that entry, so it is encoded once for all
/// readers. Frames are cached by the identity of the format: create one instance of each. For many
/// threads.
public interface EventFormat {

  /// The contents of a stream's first frame. `head` is the last position of the log: later events
  /// are live.
  record StreamOpening(
      ContextId context,
      Position position,
      Position head,
      Duration heartbeat,
      @Nullable ObjectNode extraFields) {}

  /// The entry as JSON.
  byte[] json(Entry entry);

  /// The entry as one frame or several; empty if it has none.
  byte[] frame(Entry entry);

  /// Writes what [#frame] returns behind the frames of earlier entries.
  default void write(Entry entry, EntryJsonWriter frames) {
    frames.raw(frame(entry));
  }

  /// Several deltas as one frame with the position of the last one; `from` is the seq of the first.
  byte[] merged(Entry entry, long from);

  /// The first frame of a stream.
  byte[] open(StreamOpening streamOpening);

  /// A frame that reports missing events. `requested` is the position that the reader asked for, or
  /// empty.
  byte[] gap(Position position, String reason, String requested);

  /// True if frames depend only on their entries, so that encoding never reads from the log.
  default boolean selfContained() {
    return false;
  }

  /// The kinds of events that are sent only with `debug=1`.
  default Set<Kind> diagnostics() {
    return Set.of();
  }

  /// Further fields of a stream's first frame. `task` is the task whose events the reader wants, if
  /// it names one.
  default @Nullable ObjectNode openingFields(ContextId context, Optional<TaskId> task) {
    return null;
  }
}
