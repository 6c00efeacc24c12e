package dev.parley.projection;

import org.jspecify.annotations.Nullable;

/// The end of a page of pending inputs and sign-ins: when the last one was requested, and its id.
record PendingCursor(long askedAt, String context, String id) {

  private static final PendingCursor START = new PendingCursor(-1, "", "");

  /// A character that does not occur in ids.
  private static final char BETWEEN = '~';

  static PendingCursor of(PendingView last) {
    return new PendingCursor(last.timestamp().toEpochMilli(), last.contextId().value(), last.id());
  }

  static PendingCursor parse(@Nullable String text) {
    if (text == null) {
      return START;
    }
    var parts = text.split(String.valueOf(BETWEEN), -1);
    if (parts.length != 3) {
      throw SeqCursor.invalid();
    }
    return new PendingCursor(SeqCursor.parse(parts[0]), parts[1], parts[2]);
  }

  @Override
  public String toString() {
    return askedAt + String.valueOf(BETWEEN) + context + BETWEEN + id;
  }
}
