package dev.parley.log;

import dev.parley.protocol.ToolEvent.SubagentMetadata;
import org.jspecify.annotations.Nullable;

/// A tool call that has started and not ended, and the sub-agents it spawned, if it did.
public record OpenCall(String tool, @Nullable SubagentMetadata subagents) {}
