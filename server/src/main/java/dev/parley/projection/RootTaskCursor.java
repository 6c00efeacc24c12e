package dev.parley.projection;

import org.jspecify.annotations.Nullable;

/// The end of a page of root tasks: when the last task was created or changed, and its seq and
/// context.
record RootTaskCursor(long createdAt, long seq, String context) {

  private static final RootTaskCursor START =
      new RootTaskCursor(Long.MAX_VALUE, Long.MAX_VALUE, "");
  private static final int PARTS = 3;

  static RootTaskCursor of(RootTaskView last) {
    var task = last.task();
    return new RootTaskCursor(
        task.createdAt().toEpochMilli(), task.seq(), task.contextId().value());
  }

  static RootTaskCursor ofChange(TaskView last) {
    return new RootTaskCursor(
        last.updatedAt().toEpochMilli(), last.seq(), last.contextId().value());
  }

  static RootTaskCursor parse(@Nullable String text) {
    if (text == null) {
      return START;
    }
    var parts = text.split("\\.", PARTS);
    if (parts.length != PARTS) {
      throw SeqCursor.invalid();
    }
    return new RootTaskCursor(SeqCursor.parse(parts[0]), SeqCursor.parse(parts[1]), parts[2]);
  }

  @Override
  public String toString() {
    return createdAt + "." + seq + "." + context;
  }
}
