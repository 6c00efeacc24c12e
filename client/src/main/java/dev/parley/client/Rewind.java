package dev.parley.client;

import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;

/// Where to go back to in a context, by one of three names.
public record Rewind(
    @Nullable TaskId beforeTaskId, @Nullable MessageId beforeMessageId, @Nullable Long toSeq) {

  /// To before a task and the message that asked for it.
  public static Rewind before(TaskId task) {
    return new Rewind(task, null, null);
  }

  /// To before a message.
  public static Rewind before(MessageId message) {
    return new Rewind(null, message, null);
  }

  /// To right after this event, which an earlier rewind may have left.
  public static Rewind to(long seq) {
    return new Rewind(null, null, seq);
  }
}
