package dev.parley.log;

import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.TaskId;

/// A sign-in that a task requested and that has not happened yet.
public record OpenAuth(TaskId task, AuthRequired required) {}
