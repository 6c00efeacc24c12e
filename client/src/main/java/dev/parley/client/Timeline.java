package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A context's events as people look at them: what a sub-agent does stands at the call that spawned
/// it, apart from its parent and from its siblings, to any depth.
///
/// Every event is in here once. `orphans` are sub-agents whose spawning call is not known, or not
/// yet. A rewind is an event like others: what it took back is still shown.
public record Timeline(List<Item> items, List<SubagentThread> orphans) {

  public Timeline {
    items = List.copyOf(items);
    orphans = List.copyOf(orphans);
  }

  /// The timeline of these events of one context. The same events give the same timeline.
  public static Timeline of(List<Entry> entries) {
    var fold = new TimelineFold();
    entries.forEach(fold::add);
    return fold.timeline();
  }

  /// What stands at one place.
  public sealed interface Item {}

  /// An event by itself.
  public record Plain(Entry entry) implements Item {}

  /// The sub-agents of one call, where the call began; `trigger` is what began it.
  public record SubagentGroup(Entry trigger, List<SubagentThread> threads, BatchProgress progress)
      implements Item {
    public SubagentGroup {
      threads = List.copyOf(threads);
    }
  }

  /// What one sub-agent does. Empty while it is only announced.
  public record SubagentThread(
      TaskId taskId, @Nullable AgentTypeId agentId, TaskState status, List<Item> items) {
    public SubagentThread {
      items = List.copyOf(items);
    }
  }
}
