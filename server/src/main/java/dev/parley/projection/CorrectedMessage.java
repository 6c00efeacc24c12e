package dev.parley.projection;

import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A message that was edited or deleted, rewound or not: its earlier texts, and its current text,
/// which is null if it was deleted.
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

  public boolean deleted() {
    return now == null;
  }
}
