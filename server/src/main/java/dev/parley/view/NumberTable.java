package dev.parley.view;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The last entry number of each root task, and a mark for every 256th number, so that readers need
/// not count from the start. See [Numbering].
final class NumberTable {

  /// Every so many numbers, one gets a row of its own.
  static final int MARK_EVERY = 256;

  private final Sql sql;

  NumberTable(Sql sql) {
    this.sql = sql;
  }

  /// Counts the entries of one context within one transaction.
  final class Count {
    private final Map<TaskId, Numbered> reached = new HashMap<>();

    void add(Entry entry) throws SQLException {
      var root = Numbering.root(entry);
      if (root == null) {
        return;
      }
      var before = reached.get(root);
      if (before == null) {
        before = last(entry.contextId(), root);
      }
      var now = new Numbered(before.number() + 1, entry.position().seq());
      reached.put(root, now);
      if (now.number() % MARK_EVERY == 0) {
        put("INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)", entry.contextId(), root, now);
      }
    }

    void write(ContextId context) throws SQLException {
      for (var root : reached.entrySet()) {
        put(
            "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)",
            context,
            root.getKey(),
            root.getValue());
      }
    }
  }

  Count count() {
    return new Count();
  }

  private void put(String insert, ContextId context, TaskId root, Numbered numbered)
      throws SQLException {
    sql.update(insert, context.value(), root.value(), numbered.number(), numbered.seq());
  }

  /// Returns the last number and its seq, or number 0 if there is none.
  Numbered last(ContextId context, TaskId root) throws SQLException {
    return sql.first(
            "SELECT n, seq FROM numbers WHERE context = ? AND task_id = ?",
            NumberTable::numbered,
            context.value(),
            root.value())
        .orElse(Numbered.NONE);
  }

  /// Returns the last mark that is not above `number`.
  Optional<Numbered> mark(ContextId context, TaskId root, long number) throws SQLException {
    return sql.first(
        """
        SELECT n, seq FROM marks WHERE context = ? AND task_id = ? AND n <= ?
          ORDER BY n DESC LIMIT 1
        """,
        NumberTable::numbered,
        context.value(),
        root.value(),
        number);
  }

  private static Numbered numbered(Row row) throws SQLException {
    return new Numbered(row.number("n"), row.number("seq"));
  }
}
