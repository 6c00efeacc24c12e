package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.util.List;

/// Contexts that changed, and the mark to ask for the next ones with.
///
/// Marks grow; a context that changes again appears again under a later mark. Deleted contexts
/// appear too. There is nothing more only if the mark is the one that was asked with.
public record Changes(List<ContextId> contexts, long mark) {
  public Changes {
    contexts = List.copyOf(contexts);
  }
}
