package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Reads the entries of a context: new ones from its window in memory, older ones from segments.
final class EntryReader {

  private final ReaderThreads readerThreads;
  private final int page;

  /// Reads through `readers`, and reads the text of a block in pages of `page` entries.
  EntryReader(ReaderThreads readerThreads, int page) {
    this.readerThreads = readerThreads;
    this.page = page;
  }

  /// Up to `limit` entries after `after`.
  List<Entry> entriesAfter(CachedContext context, Position after, int limit) {
    var slots = after(context, after, limit);
    var entries = new ArrayList<Entry>();
    for (var storedEntry : slots) {
      if (!storedEntry.textMissing()) {
        entries.add(storedEntry.entry());
      } else if (after.after(begin(storedEntry))) {
        entries.add(restoreText(context, storedEntry));
      } else {
        // The deltas are in this page already. Otherwise a page of many short answers would be read
        // again for each of them.
        var text = new BlockText(storedEntry);
        slots.subList(0, entries.size()).forEach(text::add);
        entries.add(storedEntry.withText(text.toString()).entry());
      }
    }
    return entries;
  }

  /// Up to `limit` entries after `after`. Ends of blocks may lack their text.
  List<StoredEntry> after(CachedContext context, Position after, int limit) {
    if (limit <= 0) {
      return List.of();
    }
    var entryWindow = context.window;
    if (!entryWindow.base().after(after)) {
      return entries(context, entryWindow.after(after), limit);
    }
    var slots = readerThreads.readPage(reader -> reader.readSegments(context, after, limit));
    // If it was deleted meanwhile, entries may be missing that it shared with other contexts.
    context.checkExists();
    if (slots.isEmpty()) {
      // Either another server has deleted the context, or the store has lost entries.
      if (readerThreads.lookUp(reader -> reader.isDeleted(context.number))) {
        throw new Rejection.Gone("the context was deleted: " + context.id);
      }
      throw new IllegalStateException("segments are missing after " + after + " in " + context.id);
    }
    if (slots.size() >= limit) {
      return slots.subList(0, limit);
    }
    slots.addAll(after(context, slots.getLast().entry().position(), limit - slots.size()));
    return slots;
  }

  private static List<StoredEntry> entries(CachedContext context, List<StoredRun> runs, int limit) {
    var entries = new ArrayList<StoredEntry>(Math.min(limit, StoredRun.size(runs)));
    for (var run : runs) {
      var end = Math.min(run.size(), limit - entries.size());
      for (var i = 0; i < end; i++) {
        entries.add(run.entry(i, context.id, context.ids));
      }
    }
    return entries;
  }

  /// The end of a block, with its text rebuilt from the deltas.
  private Entry restoreText(CachedContext context, StoredEntry end) {
    var text = new BlockText(end);
    var at = begin(end);
    while (at.compareTo(end.entry().position()) < 0) {
      var slots = after(context, at, page);
      if (slots.isEmpty()) {
        // The context was deleted after the previous page was read.
        context.checkExists();
        throw new IllegalStateException(context.id + " ends before " + end.entry().position());
      }
      slots.forEach(text::add);
      at = slots.getLast().entry().position();
    }
    return end.withText(text.toString()).entry();
  }

  /// The position before the first delta of a block.
  private static Position begin(StoredEntry end) {
    return Position.of(end.textFrom() - 1);
  }

  /// Joins the deltas of one block.
  static final class BlockText {

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
}
