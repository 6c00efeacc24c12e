package dev.parley.projection;

import dev.parley.protocol.TaskView;
import org.jspecify.annotations.Nullable;

/// A root task, the number of its numbered entries, the seq at which it ended, if it has, and the
/// title of its context.
public record RootTaskView(
    TaskView task, long numbers, @Nullable Long endSeq, @Nullable String title) {}
