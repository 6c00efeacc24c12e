package dev.parley.view;

import org.jspecify.annotations.Nullable;

/// Where a page of contexts ended: when the last one had changed, and which it was.
///
/// A context that changes meanwhile moves to the front of the list, before any cursor: it is never
/// listed twice.
record ContextCursor(long updatedAt, String context) {

  private static final ContextCursor START = new ContextCursor(Long.MAX_VALUE, "");

  static ContextCursor of(ContextView last) {
    return new ContextCursor(last.updatedAt().toEpochMilli(), last.contextId().value());
  }

  static ContextCursor parse(@Nullable String text) {
    if (text == null) {
      return START;
    }
    var dot = text.indexOf('.');
    if (dot < 0) {
      throw SeqCursor.invalid();
    }
    return new ContextCursor(SeqCursor.parse(text.substring(0, dot)), text.substring(dot + 1));
  }

  @Override
  public String toString() {
    return updatedAt + "." + context;
  }
}
