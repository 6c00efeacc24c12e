package dev.parley.view;

import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A message that was edited or deleted, whether it counts or not: the texts that it no longer has, and the one that it has now;
/// none if it was deleted.
public record CorrectedMessage(
    MessageId messageId,
    long seq,
    Role role,
    @Nullable TaskId taskId,
    List<String> before,
    @Nullable String now) {
  public CorrectedMessage {
    before = List.copyOf(before);
  }

  /// True if it was deleted.
  public boolean deleted() {
    return now == null;
  }
}
