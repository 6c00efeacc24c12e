package dev.parley.view;

import org.jspecify.annotations.Nullable;

/// A root task: how many numbered entries its story has, and the seq at which it ended, if it has.
///
/// `title` is its context's.
public record RootView(
    TaskView task, long numbers, @Nullable Long endSeq, @Nullable String title) {}
