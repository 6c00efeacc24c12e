package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.util.List;

/// Contexts that changed, and the mark for the next request.
///
/// Marks increase. A context that changes again appears again under a later mark. Deleted contexts
/// appear too. The list is exhausted only when the returned mark equals the requested one.
public record ChangedContexts(List<ContextId> contexts, long mark) {
  public ChangedContexts {
    contexts = List.copyOf(contexts);
  }
}
