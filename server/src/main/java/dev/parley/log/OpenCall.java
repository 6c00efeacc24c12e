package dev.parley.log;

import dev.parley.protocol.ToolEvent.SubagentMetadata;
import org.jspecify.annotations.Nullable;

/// A tool call that has started and not ended, and the sub-agents that it spawned, if any.
public record OpenCall(String tool, @Nullable SubagentMetadata subagents) {}
