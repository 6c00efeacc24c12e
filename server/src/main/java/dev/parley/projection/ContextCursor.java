package dev.parley.projection;

import org.jspecify.annotations.Nullable;

/// The end of a page of contexts: when the last context changed, and its id.
///
/// A context that changes later moves to the front of the list, before any cursor, so it is never
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
