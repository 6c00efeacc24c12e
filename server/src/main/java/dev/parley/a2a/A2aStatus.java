package dev.parley.a2a;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The status of a task: its state, the time, and a message of the agent.
public record A2aStatus(
    A2aState state, @Nullable A2aMessage message, @Nullable Instant timestamp) {}
