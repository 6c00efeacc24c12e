package dev.parley.client;

import dev.parley.client.SubagentEvents.SubagentBranch;
import dev.parley.client.SubagentEvents.SubagentCall;
import dev.parley.client.SubagentEvents.ToolCallKey;
import dev.parley.protocol.Id;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds the position of each sub-agent in its parent's timeline.
///
/// The sub-agent's events contain it (`spawnedByCallId`), or the tool call does
/// (`subagentMetadata`). In logs with neither, the sub-agent belongs to its parent's last call
/// before it whose name looks like a spawning tool. Without such a call, its position is where its
/// parent created it, together with the other sub-agents of the same invocation.
final class SubagentPositions {

  private static final Set<String> SPAWNING = Set.of("subagent", "subagents");

  private final SubagentEvents subagentEvents;
  private final Map<TaskId, Position> announced = new HashMap<>();
  private final Map<TaskId, List<Position>> spawning = new HashMap<>();
  private final Map<Batch, Position> batches = new HashMap<>();

  /// Sub-agents that a task spawned together.
  private record Batch(TaskId parent, Id id) {}

  SubagentPositions(SubagentEvents subagentEvents) {
    this.subagentEvents = subagentEvents;
    subagentEvents.calls().forEach(this::index);
    subagentEvents
        .created()
        .forEach(
            (task, announcedSubtask) ->
                batches.putIfAbsent(batch(task, announcedSubtask.parent()), announcedSubtask.at()));
  }

  /// The position of the event that the sub-agent belongs to, if that event has arrived.
  @Nullable Position of(SubagentBranch subagentBranch) {
    var call = subagentBranch.origin().spawnedByCallId();
    if (call != null) {
      var subagentCall = subagentEvents.calls().get(new ToolCallKey(subagentBranch.parent(), call));
      return subagentCall == null
          ? batches.get(batch(subagentBranch.task(), subagentBranch.parent()))
          : subagentCall.at();
    }
    var byMetadata = announced.get(subagentBranch.task());
    if (byMetadata != null) {
      return byMetadata;
    }
    var byParent =
        lastBefore(
            subagentBranch.first(), spawning.getOrDefault(subagentBranch.parent(), List.of()));
    return byParent == null
        ? batches.get(batch(subagentBranch.task(), subagentBranch.parent()))
        : byParent;
  }

  private void index(ToolCallKey toolCallKey, SubagentCall subagentCall) {
    if (subagentCall.metadata() != null) {
      subagentCall
          .metadata()
          .taskIds()
          .forEach(task -> announced.putIfAbsent(task, subagentCall.at()));
    }
    if (subagentCall.metadata() != null
        || looksSpawning(subagentCall.tool().toLowerCase(Locale.ROOT))) {
      spawning.computeIfAbsent(toolCallKey.task(), _ -> new ArrayList<>()).add(subagentCall.at());
    }
  }

  private static boolean looksSpawning(String tool) {
    return SPAWNING.contains(tool) || tool.startsWith("agent:") || tool.startsWith("agent_");
  }

  private Batch batch(TaskId task, TaskId parent) {
    var subagentBranch = subagentEvents.find(task);
    if (subagentBranch == null) {
      return new Batch(parent, task);
    }
    var origin = subagentBranch.origin();
    if (origin.spawnedByCallId() != null) {
      return new Batch(parent, origin.spawnedByCallId());
    }
    return new Batch(parent, origin.invocationId() != null ? origin.invocationId() : task);
  }

  private static @Nullable Position lastBefore(Position place, List<Position> inOrder) {
    Position found = null;
    for (var position : inOrder) {
      if (found == null || place.after(position)) {
        found = position;
      }
    }
    return found;
  }
}
