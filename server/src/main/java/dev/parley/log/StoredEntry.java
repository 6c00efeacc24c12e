package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;

/// An entry with the details that the store needs.
///
/// If `textFrom` is not 0, the entry ends a block whose text is stored in the deltas from that seq
/// on, and is not stored again. `textMissing` is true if the text still has to be read from the
/// deltas. `payloadBytes` is the length of the payload in a chunk, or 0 if it has not been written
/// yet; deltas have no payload.
record StoredEntry(Entry entry, long textFrom, boolean textMissing, int payloadBytes)
    implements StoredRun {

  private static final int OVERHEAD = 256;

  /// An entry that has not been written yet.
  static StoredEntry fresh(Entry entry, long textFrom) {
    return new StoredEntry(entry, textFrom, false, 0);
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public Position last() {
    return entry.position();
  }

  @Override
  public StoredEntry entry(int index, ContextId context, EventIdGenerator ids) {
    return this;
  }

  @Override
  public StoredEntry part(int from, int to) {
    return this;
  }

  @Override
  public long weight() {
    var text =
        switch (entry.event()) {
          case ContentDelta delta -> delta.delta().length();
          case ContentComplete complete when textFrom > 0 -> complete.content().length();
          default -> 0; // The payload contains everything else.
        };
    return OVERHEAD + 2L * (text + payloadBytes);
  }

  StoredEntry withPayloadBytes(int bytes) {
    return new StoredEntry(entry, textFrom, textMissing, bytes);
  }

  /// The end of a block with its text restored.
  StoredEntry withText(String text) {
    var end = (ContentComplete) entry.event();
    var whole =
        new ContentComplete(
            text,
            end.blockId(),
            end.finishReason(),
            end.partial(),
            end.replaces(),
            end.toolCalls());
    return new StoredEntry(
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
