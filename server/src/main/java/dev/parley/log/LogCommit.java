package dev.parley.log;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// One commit: the appends of one block, the contexts that it seals, and the old blocks that it
/// deletes.
record LogCommit(
    long id, List<PendingAppend> appends, List<CachedContext> sealing, List<Long> deleting) {

  /// The contexts that the appends belong to.
  Set<CachedContext> contexts() {
    var contexts = new LinkedHashSet<CachedContext>();
    appends.forEach(pendingAppend -> contexts.add(pendingAppend.context()));
    return contexts;
  }
}
