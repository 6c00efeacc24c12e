package dev.parley.log;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// What is written as one block: appends, contexts that are sealed and old blocks that are deleted along
/// the way.
record Commit(long id, List<Ticket> tickets, List<LiveContext> sealing, List<Long> deleting) {

  /// The contexts that are appended to.
  Set<LiveContext> contexts() {
    var contexts = new LinkedHashSet<LiveContext>();
    tickets.forEach(ticket -> contexts.add(ticket.context()));
    return contexts;
  }
}
