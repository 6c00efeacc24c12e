package dev.parley.client;

import dev.parley.client.Branches.Branch;
import dev.parley.client.Branches.Call;
import dev.parley.client.Branches.Spawn;
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
final class Anchors {

  private static final Set<String> SPAWNING = Set.of("subagent", "subagents");

  private final Branches branches;
  private final Map<TaskId, Position> announced = new HashMap<>();
  private final Map<TaskId, List<Position>> spawning = new HashMap<>();
  private final Map<Batch, Position> batches = new HashMap<>();

  /// Sub-agents that a task spawned together.
  private record Batch(TaskId parent, Id id) {}

  Anchors(Branches branches) {
    this.branches = branches;
    branches.calls().forEach(this::index);
    branches
        .created()
        .forEach(
            (task, created) -> batches.putIfAbsent(batch(task, created.parent()), created.at()));
  }

  /// The position of the event that the sub-agent belongs to, if that event has arrived.
  @Nullable Position of(Branch branch) {
    var call = branch.origin().spawnedByCallId();
    if (call != null) {
      var spawn = branches.calls().get(new Call(branch.parent(), call));
      return spawn == null ? batches.get(batch(branch.task(), branch.parent())) : spawn.at();
    }
    var byMetadata = announced.get(branch.task());
    if (byMetadata != null) {
      return byMetadata;
    }
    var byParent = lastBefore(branch.first(), spawning.getOrDefault(branch.parent(), List.of()));
    return byParent == null ? batches.get(batch(branch.task(), branch.parent())) : byParent;
  }

  private void index(Call call, Spawn spawn) {
    if (spawn.metadata() != null) {
      spawn.metadata().taskIds().forEach(task -> announced.putIfAbsent(task, spawn.at()));
    }
    if (spawn.metadata() != null || looksSpawning(spawn.tool().toLowerCase(Locale.ROOT))) {
      spawning.computeIfAbsent(call.task(), _ -> new ArrayList<>()).add(spawn.at());
    }
  }

  private static boolean looksSpawning(String tool) {
    return SPAWNING.contains(tool) || tool.startsWith("agent:") || tool.startsWith("agent_");
  }

  private Batch batch(TaskId task, TaskId parent) {
    var branch = branches.find(task);
    if (branch == null) {
      return new Batch(parent, task);
    }
    var origin = branch.origin();
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
