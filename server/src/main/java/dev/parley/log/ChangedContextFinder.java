package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Finds contexts by their last change: sealed contexts by their row, the others in memory.
record ChangedContextFinder(Connection connection, List<CachedContext> inMemory) {

  static List<ContextId> withOpenTasks(Connection connection) throws SQLException {
    var found = new ArrayList<ContextId>();
    try (var select = connection.prepareStatement("SELECT id FROM contexts WHERE open_tasks > 0");
        var rows = select.executeQuery()) {
      while (rows.next()) {
        found.add(new ContextId(rows.getString(1)));
      }
    }
    return found;
  }

  /// Contexts that were last changed after block `first` and not after block `last`.
  ///
  /// One block may change many contexts. They are returned together, because a mark cannot point
  /// into a block; the result may therefore exceed `limit`.
  ChangedContexts between(long first, long last, int limit) throws SQLException {
    var touched = new HashMap<ContextId, Long>();
    var complete = readRows(first, last, limit, touched);
    for (var context : inMemory) {
      if (context.lastBlock > first) {
        // A context that changes all the time has changed up to `last`, too.
        touched.merge(context.id, Math.min(context.lastBlock, last), Math::max);
      }
    }
    // Contexts that a later block has changed since are left to the next call.
    touched.values().removeIf(block -> block > complete);
    var ordered = touched.entrySet().stream().sorted(Map.Entry.comparingByValue()).toList();
    var mark = ordered.size() > limit ? ordered.get(limit - 1).getValue() : complete;
    return new ChangedContexts(
        ordered.stream().filter(e -> e.getValue() <= mark).map(Map.Entry::getKey).toList(), mark);
  }

  /// Reads rows up to a block. Returns that block: `last`, or an earlier one if there are many
  /// rows.
  private long readRows(long first, long last, int limit, Map<ContextId, Long> touched)
      throws SQLException {
    var complete = endOfPage(first, last, limit);
    try (var select =
        connection.prepareStatement(
            "SELECT id, touched FROM contexts WHERE touched > ? AND touched <= ?")) {
      select.setLong(1, first);
      select.setLong(2, complete);
      try (var rows = select.executeQuery()) {
        while (rows.next()) {
          touched.put(new ContextId(rows.getString(1)), rows.getLong(2));
        }
      }
    }
    return complete;
  }

  private long endOfPage(long first, long last, int limit) throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT touched FROM contexts WHERE touched > ? AND touched <= ?"
                + " ORDER BY touched LIMIT 1 OFFSET ?")) {
      select.setLong(1, first);
      select.setLong(2, last);
      select.setInt(3, limit - 1);
      try (var rows = select.executeQuery()) {
        return rows.next() ? rows.getLong(1) : last;
      }
    }
  }
}
