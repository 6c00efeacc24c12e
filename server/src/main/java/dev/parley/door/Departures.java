package dev.parley.door;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Which agents went with the contexts that were deleted last, for those who watch and are only told
/// which context it was. For many threads; the monitor guards the map.
public final class Departures {

  private static final int CONTEXTS_MAX = 10_000;

  private final Map<ContextId, List<TaskId>> gone = new LinkedHashMap<>();

  /// The context is about to be deleted.
  synchronized void note(ContextId context, List<TaskId> roots) {
    gone.put(context, List.copyOf(roots));
    if (gone.size() > CONTEXTS_MAX) {
      gone.remove(gone.keySet().iterator().next());
    }
  }

  /// The root tasks that a context had; none if it was deleted long ago, or before this process began.
  public synchronized List<TaskId> of(ContextId context) {
    return gone.getOrDefault(context, List.of());
  }
}
