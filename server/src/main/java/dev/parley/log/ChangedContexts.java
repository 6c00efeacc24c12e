package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.util.List;
import java.util.Map;

/// Contexts that changed, the mark for the next request, and the mark of the last change.
///
/// Marks increase. A context that changes again appears again under a later mark. Deleted contexts
/// appear too. No other context had changed when the marks are equal.
public record ChangedContexts(List<ContextId> contexts, long mark, long last) {
  public ChangedContexts {
    contexts = List.copyOf(contexts);
  }

  /// Returns about `limit` of the contexts in `touched`, which has the last block of each and is
  /// complete up to block `complete`.
  ///
  /// One block may change many contexts. They are returned together, even if this exceeds `limit`,
  /// because a mark cannot point into a block.
  static ChangedContexts of(Map<ContextId, Long> touched, int limit, long complete, long last) {
    var ordered = touched.entrySet().stream().sorted(Map.Entry.comparingByValue()).toList();
    var end = ordered.size() > limit ? ordered.get(limit - 1).getValue() : complete;
    return new ChangedContexts(
        ordered.stream().filter(e -> e.getValue() <= end).map(Map.Entry::getKey).toList(),
        end,
        last);
  }
}
