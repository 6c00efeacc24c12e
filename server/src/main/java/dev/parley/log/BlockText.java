package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import java.util.Objects;

/// Joins the deltas of one block.
final class BlockText {

  private final StoredEntry end;
  private final StringBuilder text = new StringBuilder();

  BlockText(StoredEntry end) {
    this.end = end;
  }

  void add(StoredEntry storedEntry) {
    if (storedEntry.entry().event() instanceof ContentDelta delta
        && end.entry().event() instanceof ContentComplete complete
        && Objects.equals(delta.blockId(), complete.blockId())
        && Objects.equals(storedEntry.entry().taskId(), end.entry().taskId())
        && end.entry().position().after(storedEntry.entry().position())) {
      text.append(delta.delta());
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
