package dev.parley.client;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;

/// The target of a rewind; exactly one component is set.
public record Rewind(
    @Nullable TaskId beforeTaskId, @Nullable MessageId beforeMessageId, @Nullable Long toSeq) {

  /// Goes back to before a task and its message.
  public static Rewind before(TaskId task) {
    return new Rewind(task, null, null);
  }

  /// Goes back to before a message.
  public static Rewind before(MessageId message) {
    return new Rewind(null, message, null);
  }

  /// Goes back to this event, which may be one that an earlier rewind skipped.
  public static Rewind to(long seq) {
    return new Rewind(null, null, seq);
  }

  /// A rewind that is in the log at `seq`: the events after `toSeq` and before `seq` no longer
  /// count.
  public record Rewound(ContextId contextId, long seq, long toSeq) {}
}
