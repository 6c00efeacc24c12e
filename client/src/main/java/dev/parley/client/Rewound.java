package dev.parley.client;

import dev.parley.protocol.ContextId;

/// A rewind that is in the log at `seq`: the events after `toSeq` and before `seq` no longer count.
public record Rewound(ContextId contextId, long seq, long toSeq) {}
