package dev.parley.view;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which root tasks of an agent are meant: those in contexts of these owners (all, if none are named), in these states,
/// that changed at this time or later, and whose metadata has `tenant` at `a2a.tenant`; what is missing does not matter.
public record RootFilter(
    AgentTypeId agent,
    Set<String> owners,
    @Nullable ContextId context,
    Set<TaskState> states,
    @Nullable Instant changedSince,
    @Nullable String tenant) {
  public RootFilter {
    owners = Set.copyOf(owners);
    states = Set.copyOf(states);
  }
}
