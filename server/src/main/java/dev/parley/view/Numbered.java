package dev.parley.view;

/// The number of an entry within its root task, and the entry's seq.
public record Numbered(long number, long seq) {

  static final Numbered NONE = new Numbered(0, 0);
}
