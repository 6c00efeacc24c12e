package dev.parley.log;

import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.TaskId;

/// A sign-in that a task asked for and that has not happened.
public record OpenAuth(TaskId task, AuthRequired required) {}
