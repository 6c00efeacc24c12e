package dev.parley.client;

import dev.parley.protocol.ContextId;

/// A rewind that is in the log, at `seq`: what follows `toSeq` up to there no longer counts.
public record Rewound(ContextId contextId, long seq, long toSeq) {}
