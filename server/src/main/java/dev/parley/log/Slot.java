package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import java.util.List;

/// An entry beside what the store must know of it.
///
/// `textFrom` is not 0 when the entry ends a block whose text is stored in the deltas from there on,
/// and so is not stored again. `missing` says that the text has yet to be read back from them.
/// `payloadBytes` is the length of its payload in a chunk, or 0 while it has not been written to one;
/// deltas have no payload.
record Slot(Entry entry, long textFrom, boolean missing, int payloadBytes) {

  private static final int OVERHEAD = 256;

  /// An entry that has not been written yet.
  static Slot fresh(Entry entry, long textFrom) {
    return new Slot(entry, textFrom, false, 0);
  }

  /// About how much memory this takes.
  int weight() {
    var text =
        switch (entry.event()) {
          case ContentDelta delta -> delta.delta().length();
          case ContentComplete complete when textFrom > 0 -> complete.content().length();
          default -> 0; // All that it holds is in its payload.
        };
    return OVERHEAD + 2 * (text + payloadBytes);
  }

  static long weight(List<Slot> slots) {
    var weight = 0L;
    for (var slot : slots) {
      weight += slot.weight();
    }
    return weight;
  }

  Slot withPayloadBytes(int bytes) {
    return new Slot(entry, textFrom, missing, bytes);
  }

  /// The end of a block with its text put back.
  Slot withText(String text) {
    var end = (ContentComplete) entry.event();
    var whole =
        new ContentComplete(
            text,
            end.blockId(),
            end.finishReason(),
            end.partial(),
            end.replaces(),
            end.toolCalls());
    return new Slot(
        new Entry(
            entry.contextId(),
            entry.position(),
            entry.eventId(),
            entry.timestamp(),
            entry.origin(),
            whole),
        textFrom,
        false,
        payloadBytes);
  }
}
