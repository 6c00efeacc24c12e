package dev.parley.http;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The agents of recently deleted contexts, for subscribers that learn only the id of a deleted
/// context. For many threads; the monitor guards the map.
public final class DeletedAgents {

  private static final int CONTEXTS_MAX = 10_000;

  private final Map<ContextId, List<TaskId>> gone = new LinkedHashMap<>();

  /// The context is about to be deleted.
  synchronized void add(ContextId context, List<TaskId> roots) {
    gone.put(context, List.copyOf(roots));
    if (gone.size() > CONTEXTS_MAX) {
      gone.remove(gone.keySet().iterator().next());
    }
  }

  /// The root tasks that a context had; empty if it was deleted long ago, or before this process
  /// started.
  public synchronized List<TaskId> of(ContextId context) {
    return gone.getOrDefault(context, List.of());
  }
}
