package dev.parley.log;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// One commit: the appends of one block, the contexts that it seals, and the old blocks that it
/// deletes.
record Commit(long id, List<Ticket> tickets, List<LiveContext> sealing, List<Long> deleting) {

  /// The contexts that the appends belong to.
  Set<LiveContext> contexts() {
    var contexts = new LinkedHashSet<LiveContext>();
    tickets.forEach(ticket -> contexts.add(ticket.context()));
    return contexts;
  }
}
