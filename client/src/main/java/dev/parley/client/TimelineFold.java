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
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Builds a [Timeline] from events as they arrive.
///
/// Order and duplicates do not matter: an event of a sub-agent that arrives before the call that
/// spawned it gets its place when the call arrives. Adding an event is fast; [#timeline] processes
/// all events. For one thread.
public final class TimelineFold {

  private final TreeMap<Position, Entry> entries = new TreeMap<>();

  /// Starts without events.
  public TimelineFold() {}

  /// Adds an event.
  public void add(Entry entry) {
    entries.putIfAbsent(entry.position(), entry);
  }

  /// The timeline of all events so far.
  public Timeline timeline() {
    return new TimelineBuilder(new SubagentEvents(entries.values())).timeline();
  }

  /// Builds a timeline from the events of its sub-agents. For one use.
  private static final class TimelineBuilder {

    private final SubagentEvents subagentEvents;
    private final Map<Position, List<TaskId>> spawned = new HashMap<>();
    private final List<TaskId> unplaced = new ArrayList<>();
    private final Set<TaskId> placed = new HashSet<>();

    TimelineBuilder(SubagentEvents subagentEvents) {
      this.subagentEvents = subagentEvents;
      var subagentPositions = new SubagentPositions(subagentEvents);
      for (var subagentBranch : subagentEvents.subtasks()) {
        var anchor = subagentPositions.of(subagentBranch);
        if (anchor == null) {
          unplaced.add(subagentBranch.task());
        } else {
          spawned.computeIfAbsent(anchor, _ -> new ArrayList<>()).add(subagentBranch.task());
        }
      }
    }

    Timeline timeline() {
      var items = items(subagentEvents.main());
      var orphans = new ArrayList<SubagentThread>();
      unplaced.forEach(task -> orphans.add(thread(task)));
      for (var subagentBranch : subagentEvents.subtasks()) {
        // Only if the parents of tasks form a cycle.
        if (!placed.contains(subagentBranch.task())) {
          orphans.add(thread(subagentBranch.task()));
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
      var announced = subagentEvents.announced(entry);
      if (children.isEmpty() && announced == null) {
        return null;
      }
      var order = new LinkedHashSet<TaskId>();
      if (announced != null) {
        announced.taskIds().stream()
            .filter(task -> children.contains(task) || subagentEvents.find(task) == null)
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
      var items = items(subagentEvents.entries(task));
      return new SubagentThread(
          task, subagentEvents.agent(task), subagentEvents.status(task), items);
    }
  }
}
