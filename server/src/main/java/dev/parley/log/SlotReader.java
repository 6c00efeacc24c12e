package dev.parley.log;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;

/// Reads the entries of a context: new ones from its window in memory, older ones from segments.
final class SlotReader {

  private final Readers readers;
  private final int page;

  /// Reads through `readers`, and reads the text of a block in pages of `page` entries.
  SlotReader(Readers readers, int page) {
    this.readers = readers;
    this.page = page;
  }

  /// Up to `limit` entries after `after`.
  List<Entry> entriesAfter(LiveContext context, Position after, int limit) {
    var slots = after(context, after, limit);
    var entries = new ArrayList<Entry>();
    for (var slot : slots) {
      if (!slot.missing()) {
        entries.add(slot.entry());
      } else if (after.after(begin(slot))) {
        entries.add(restored(context, slot));
      } else {
        // The deltas are in this page already. Otherwise a page of many short answers would be read
        // again for each of them.
        var text = new BlockText(slot);
        slots.subList(0, entries.size()).forEach(text::add);
        entries.add(slot.withText(text.toString()).entry());
      }
    }
    return entries;
  }

  /// Up to `limit` entries after `after`. Ends of blocks may lack their text.
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
      // Either the context was just deleted, or the store has lost entries.
      context.check();
      throw new IllegalStateException("segments are missing after " + after + " in " + context.id);
    }
    if (slots.size() >= limit) {
      return slots.subList(0, limit);
    }
    slots.addAll(after(context, slots.getLast().entry().position(), limit - slots.size()));
    return slots;
  }

  /// The end of a block, with its text rebuilt from the deltas.
  private Entry restored(LiveContext context, Slot end) {
    var text = new BlockText(end);
    var at = begin(end);
    while (at.compareTo(end.entry().position()) < 0) {
      var slots = after(context, at, page);
      if (slots.isEmpty()) {
        // The context was deleted after the previous page was read.
        context.check();
        throw new IllegalStateException(context.id + " ends before " + end.entry().position());
      }
      slots.forEach(text::add);
      at = slots.getLast().entry().position();
    }
    return end.withText(text.toString()).entry();
  }

  /// The position before the first delta of a block.
  private static Position begin(Slot end) {
    return Position.of(end.textFrom() - 1);
  }
}
