package dev.parley.view;

import dev.parley.protocol.TaskId;
import tools.jackson.databind.node.ObjectNode;

/// A task that a client stored, as it last did; `seq` is where it first did.
public record StoredTask(TaskId taskId, long seq, ObjectNode task) {}
