package dev.parley.tool;

import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import org.jspecify.annotations.Nullable;

/// A piece of reasoning that a tool makes known.
public record Thought(
    ThoughtType type, Verbosity verbosity, String content, @Nullable Double confidence) {}
