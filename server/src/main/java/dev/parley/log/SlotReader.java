package dev.parley.log;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;

/// Reads a context: what is new from its window, what is older from segments.
final class SlotReader {

  private final Readers readers;
  private final int page;

  /// Reads through `readers`, and looks for the text of a block in pages of `page` entries.
  SlotReader(Readers readers, int page) {
    this.readers = readers;
    this.page = page;
  }

  /// Up to `limit` entries that follow `after`.
  List<Entry> entriesAfter(LiveContext context, Position after, int limit) {
    var slots = after(context, after, limit);
    var entries = new ArrayList<Entry>();
    for (var slot : slots) {
      if (!slot.missing()) {
        entries.add(slot.entry());
      } else if (after.after(begin(slot))) {
        entries.add(restored(context, slot));
      } else {
        // Its deltas are at hand: a page of many short answers would be read once more for each.
        var text = new BlockText(slot);
        slots.subList(0, entries.size()).forEach(text::add);
        entries.add(slot.withText(text.toString()).entry());
      }
    }
    return entries;
  }

  /// Up to `limit` entries that follow `after`, ends of blocks perhaps without their text.
  List<Slot> after(LiveContext context, Position after, int limit) {
    if (limit <= 0) {
      return List.of();
    }
    var window = context.window;
    if (!window.base().after(after)) {
      return window.after(after, limit);
    }
    var slots =
        readers.readPage(
            connection -> StoredContexts.readSegments(connection, context, after, limit));
    if (slots.isEmpty()) {
      // Either the context was just deleted, or the store has lost what it promised to keep.
      context.check();
      throw new IllegalStateException("segments are missing after " + after + " in " + context.id);
    }
    if (slots.size() >= limit) {
      return slots.subList(0, limit);
    }
    slots.addAll(after(context, slots.getLast().entry().position(), limit - slots.size()));
    return slots;
  }

  /// The end of a block, with its text put together again from the block's deltas.
  private Entry restored(LiveContext context, Slot end) {
    var text = new BlockText(end);
    var at = begin(end);
    while (at.compareTo(end.entry().position()) < 0) {
      var slots = after(context, at, page);
      if (slots.isEmpty()) {
        // The context was deleted since the page before.
        context.check();
        throw new IllegalStateException(context.id + " ends before " + end.entry().position());
      }
      slots.forEach(text::add);
      at = slots.getLast().entry().position();
    }
    return end.withText(text.toString()).entry();
  }

  /// The place before the first delta of a block.
  private static Position begin(Slot end) {
    return Position.of(end.textFrom() - 1);
  }
}
