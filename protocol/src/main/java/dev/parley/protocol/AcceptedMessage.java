package dev.parley.protocol;

/// A message that is in the log. `seq` is the message's number; the task's events follow it.
public record AcceptedMessage(ContextId contextId, MessageId messageId, TaskId taskId, long seq) {}
