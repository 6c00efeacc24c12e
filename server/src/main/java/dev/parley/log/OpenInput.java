package dev.parley.log;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;

/// Input that a task asked for and has not got. `askedSeq` is where it asked; missing in states that earlier versions
/// stored.
public record OpenInput(TaskId task, InputRequired required, @Nullable Long askedSeq) {}
