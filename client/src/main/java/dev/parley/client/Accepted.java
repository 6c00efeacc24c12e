package dev.parley.client;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;

/// The acknowledgement of a message that is in the log. `seq` is the message's position; the task's
/// events follow it.
public record Accepted(ContextId contextId, MessageId messageId, TaskId taskId, long seq) {}
