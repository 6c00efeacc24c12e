package dev.parley.client;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;

/// A message is in the log. `seq` is where the message stands; the task's events follow it.
public record Accepted(ContextId contextId, MessageId messageId, TaskId taskId, long seq) {}
