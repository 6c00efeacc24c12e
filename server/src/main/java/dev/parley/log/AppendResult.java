package dev.parley.log;

import dev.parley.protocol.Position;

/// The positions of the events that an append wrote, from `first` to `last`.
///
/// `replayed` is true if an earlier append with the same idempotency key wrote them. If nothing was
/// appended, both positions are the head.
public record AppendResult(Position first, Position last, boolean replayed) {}
