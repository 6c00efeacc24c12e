package dev.parley.projection;

import dev.parley.protocol.TaskId;
import tools.jackson.databind.node.ObjectNode;

/// A task as a client last stored it; `seq` is where it was first stored.
public record StoredTask(TaskId taskId, long seq, ObjectNode task) {}
