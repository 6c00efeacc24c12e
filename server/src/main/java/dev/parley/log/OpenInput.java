package dev.parley.log;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;

/// Input that a task requested and has not received. `askedSeq` is the seq of the request; missing
/// in states that earlier versions stored.
public record OpenInput(TaskId task, InputRequired required, @Nullable Long askedSeq) {}
