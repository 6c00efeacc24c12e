package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A context's events, arranged for display: the events of a sub-agent are grouped at the call that
/// spawned it, separate from its parent and its siblings, to any depth.
///
/// The timeline contains every event once. `orphans` are sub-agents whose spawning call is not
/// known, or not yet. A rewind is an event like others: the events that it took back are still
/// included.
public record Timeline(List<Item> items, List<SubagentThread> orphans) {

  public Timeline {
    items = List.copyOf(items);
    orphans = List.copyOf(orphans);
  }

  /// The timeline of these events of one context. It does not depend on their order.
  public static Timeline of(List<Entry> entries) {
    var fold = new TimelineFold();
    entries.forEach(fold::add);
    return fold.timeline();
  }

  /// An element of a timeline.
  public sealed interface Item {}

  /// A single event.
  public record Plain(Entry entry) implements Item {}

  /// The sub-agents of one call, at the position of `trigger`, the first event of the call.
  public record SubagentGroup(Entry trigger, List<SubagentThread> threads, BatchProgress progress)
      implements Item {
    public SubagentGroup {
      threads = List.copyOf(threads);
    }
  }

  /// The events of one sub-agent. Empty while it is only announced.
  public record SubagentThread(
      TaskId taskId, @Nullable AgentTypeId agentId, TaskState status, List<Item> items) {
    public SubagentThread {
      items = List.copyOf(items);
    }
  }
}
