package dev.parley.view;

import org.jspecify.annotations.Nullable;

/// The end of a page of root tasks: when the last task was created or changed, and its seq and
/// context.
record RootCursor(long createdAt, long seq, String context) {

  private static final RootCursor START = new RootCursor(Long.MAX_VALUE, Long.MAX_VALUE, "");
  private static final int PARTS = 3;

  static RootCursor of(RootView last) {
    var task = last.task();
    return new RootCursor(task.createdAt().toEpochMilli(), task.seq(), task.contextId().value());
  }

  static RootCursor ofChange(TaskView last) {
    return new RootCursor(last.updatedAt().toEpochMilli(), last.seq(), last.contextId().value());
  }

  static RootCursor parse(@Nullable String text) {
    if (text == null) {
      return START;
    }
    var parts = text.split("\\.", PARTS);
    if (parts.length != PARTS) {
      throw SeqCursor.invalid();
    }
    return new RootCursor(SeqCursor.parse(parts[0]), SeqCursor.parse(parts[1]), parts[2]);
  }

  @Override
  public String toString() {
    return createdAt + "." + seq + "." + context;
  }
}
