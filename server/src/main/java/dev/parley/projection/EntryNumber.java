package dev.parley.projection;

/// The number of an entry within its root task, and the entry's seq.
public record EntryNumber(long number, long seq) {

  static final EntryNumber NONE = new EntryNumber(0, 0);
}
