package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import java.util.Objects;

/// Joins the deltas of one block.
final class BlockText {

  private final Slot end;
  private final StringBuilder text = new StringBuilder();

  BlockText(Slot end) {
    this.end = end;
  }

  void add(Slot slot) {
    if (slot.entry().event() instanceof ContentDelta delta
        && end.entry().event() instanceof ContentComplete complete
        && Objects.equals(delta.blockId(), complete.blockId())
        && Objects.equals(slot.entry().taskId(), end.entry().taskId())
        && end.entry().position().after(slot.entry().position())) {
      text.append(delta.delta());
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
