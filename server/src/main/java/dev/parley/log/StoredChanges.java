package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;

/// Finds contexts by what happened to them last.
final class StoredChanges {

  private StoredChanges() {}

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

  /// Contexts touched after `mark`: those in segments by their row, the others by what is in memory.
  static Changes since(Connection connection, List<LiveContext> inMemory, long mark, int limit)
      throws SQLException {
    var touched = new HashMap<ContextId, Long>();
    try (var select =
        connection.prepareStatement(
            "SELECT id, touched FROM contexts WHERE touched > ? ORDER BY touched LIMIT ?")) {
      select.setLong(1, mark);
      select.setInt(2, limit);
      try (var rows = select.executeQuery()) {
        while (rows.next()) {
          touched.put(new ContextId(rows.getString(1)), rows.getLong(2));
        }
      }
    }
    for (var context : inMemory) {
      if (context.lastBlock > mark) {
        touched.merge(context.id, context.lastBlock, Math::max);
      }
    }
    var ordered =
        touched.entrySet().stream()
            .sorted(Comparator.comparingLong(e -> e.getValue()))
            .limit(limit)
            .toList();
    return new Changes(
        ordered.stream().map(e -> e.getKey()).toList(),
        ordered.isEmpty() ? mark : ordered.getLast().getValue());
  }
}
