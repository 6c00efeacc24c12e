package dev.parley.projection;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Selects root tasks of an agent: in visible contexts, in these states, changed at this time or later, and with `tenant` at `a2a.tenant` in their
/// metadata. A null value selects all.
public record RootTaskFilter(
    AgentTypeId agent,
    VisibleContexts visible,
    @Nullable ContextId context,
    Set<TaskState> states,
    @Nullable Instant changedSince,
    @Nullable String tenant) {
  public RootTaskFilter {
    states = Set.copyOf(states);
  }
}
