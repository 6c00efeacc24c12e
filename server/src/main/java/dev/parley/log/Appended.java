package dev.parley.log;

import dev.parley.protocol.Position;

/// Where an append put its events: from `first` to `last`.
///
/// `replayed` says that an earlier append with the same key put them there. If nothing was appended,
/// both are the head.
public record Appended(Position first, Position last, boolean replayed) {}
