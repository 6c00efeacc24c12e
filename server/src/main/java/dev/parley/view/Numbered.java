package dev.parley.view;

/// A number in the story of a root task, and the seq at which it stands.
public record Numbered(long number, long seq) {

  static final Numbered NONE = new Numbered(0, 0);
}
