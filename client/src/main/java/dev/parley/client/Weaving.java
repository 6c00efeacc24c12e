package dev.parley.client;

import dev.parley.client.Timeline.Item;
import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.client.Timeline.SubagentThread;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Builds a timeline from the events of its sub-agents. For one use.
final class Weaving {

  private final Branches branches;
  private final Map<Position, List<TaskId>> spawned = new HashMap<>();
  private final List<TaskId> homeless = new ArrayList<>();
  private final Set<TaskId> placed = new HashSet<>();

  Weaving(Branches branches) {
    this.branches = branches;
    var anchors = new Anchors(branches);
    for (var branch : branches.subtasks()) {
      var anchor = anchors.of(branch);
      if (anchor == null) {
        homeless.add(branch.task());
      } else {
        spawned.computeIfAbsent(anchor, _ -> new ArrayList<>()).add(branch.task());
      }
    }
  }

  Timeline timeline() {
    var items = items(branches.main());
    var orphans = new ArrayList<SubagentThread>();
    homeless.forEach(task -> orphans.add(thread(task)));
    for (var branch : branches.subtasks()) {
      // Only if the parents of tasks form a cycle.
      if (!placed.contains(branch.task())) {
        orphans.add(thread(branch.task()));
      }
    }
    return new Timeline(items, orphans);
  }

  private List<Item> items(List<Entry> entries) {
    var items = new ArrayList<Item>(entries.size());
    for (var entry : entries) {
      var group = group(entry);
      items.add(group == null ? new Plain(entry) : group);
    }
    return items;
  }

  private @Nullable SubagentGroup group(Entry entry) {
    var children = spawned.getOrDefault(entry.position(), List.of());
    var announced = branches.announced(entry);
    if (children.isEmpty() && announced == null) {
      return null;
    }
    var order = new LinkedHashSet<TaskId>();
    if (announced != null) {
      announced.taskIds().stream()
          .filter(task -> children.contains(task) || branches.find(task) == null)
          .forEach(order::add);
    }
    order.addAll(children);
    order.removeAll(placed);
    var threads = new ArrayList<SubagentThread>();
    order.forEach(task -> threads.add(thread(task)));
    var count = announced == null ? 0 : announced.count();
    return new SubagentGroup(entry, threads, BatchProgress.of(count, threads));
  }

  private SubagentThread thread(TaskId task) {
    placed.add(task);
    var items = items(branches.entries(task));
    return new SubagentThread(task, branches.agent(task), branches.status(task), items);
  }
}
