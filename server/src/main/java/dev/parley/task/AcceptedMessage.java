package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;

/// A message that is in the log. `seq` is the message's number; the task's events follow it.
public record AcceptedMessage(ContextId contextId, MessageId messageId, TaskId taskId, long seq) {}
