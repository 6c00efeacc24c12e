package dev.parley.projection;

import dev.parley.projection.ViewUpdater.EntryPage;
import dev.parley.protocol.EventJson;
import java.util.ArrayList;
import java.util.List;

/// Pages of entries that are saved in one transaction. For one thread.
final class CatchUpBatch {

  /// How many entries a batch has at most; a context with more gets transactions of its own.
  static final int ENTRIES_MAX = 1_024;

  /// The approximate size of the entries of a batch in bytes. A larger page gets a batch of its own.
  private static final long BYTES_MAX = 8 << 20;

  private List<EntryPage> pages = new ArrayList<>();
  private int entries;
  private long bytes;

  /// Adds a page. Returns false and adds nothing if the batch has no room for it.
  boolean add(EntryPage page) {
    var pageBytes = bytes(page);
    var fits = entries + page.entries().size() <= ENTRIES_MAX && bytes + pageBytes <= BYTES_MAX;
    if (!fits && !pages.isEmpty()) {
      return false;
    }
    pages.add(page);
    entries += page.entries().size();
    bytes += pageBytes;
    return true;
  }

  /// True if there is no room for another page.
  boolean full() {
    return entries >= ENTRIES_MAX || bytes >= BYTES_MAX;
  }

  /// Returns all pages, and removes them.
  List<EntryPage> take() {
    var taken = pages;
    pages = new ArrayList<>();
    entries = 0;
    bytes = 0;
    return taken;
  }

  private static long bytes(EntryPage page) {
    var bytes = 0L;
    for (var entry : page.entries()) {
      bytes += EventJson.payload(entry.event()).length;
    }
    return bytes;
  }
}
