package dev.parley.task;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.util.function.Supplier;

/// The source of time, threads and new ids.
public record TaskSources(Time time, Threads threads, Supplier<String> ids) {

  /// A new task's id.
  public TaskId taskId() {
    return new TaskId(ids.get());
  }

  /// A new message's id.
  public MessageId messageId() {
    return new MessageId(ids.get());
  }

  /// A new block's id.
  public BlockId blockId() {
    return new BlockId(ids.get());
  }

  /// A new thought's id.
  public ThoughtId thoughtId() {
    return new ThoughtId(ids.get());
  }

  /// A new tool call's id.
  public ToolCallId toolCallId() {
    return new ToolCallId(ids.get());
  }
}
