package dev.parley.a2a;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Where a task stands, since when, and what its agent says about it.
public record WireStatus(
    WireState state, @Nullable WireMessage message, @Nullable Instant timestamp) {}
