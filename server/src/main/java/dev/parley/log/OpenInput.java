package dev.parley.log;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskId;

/// Input that a task asked for and has not got.
public record OpenInput(TaskId task, InputRequired required) {}
