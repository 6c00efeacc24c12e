package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;

/// An entry beside what the store must know of it.
///
/// `textFrom` is not 0 when the entry ends a block whose text is stored in the deltas from there on,
/// and so is not stored again. `missing` says that the text has yet to be read back from them.
record Slot(Entry entry, long textFrom, boolean missing) {

  private static final int OVERHEAD = 160;

  static Slot of(Entry entry) {
    return new Slot(entry, 0, false);
  }

  /// About how much memory this takes.
  int weight() {
    return switch (entry.event()) {
      case ContentDelta delta -> OVERHEAD + delta.delta().length();
      case ContentComplete complete -> OVERHEAD + 2 * complete.content().length();
      case Message message -> OVERHEAD + 2 * message.content().length();
      default -> 4 * OVERHEAD; // A guess that is good enough to bound memory by.
    };
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
        false);
  }
}
