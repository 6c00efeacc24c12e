package dev.parley.projection;

import dev.parley.projection.EntryNumbering.EntryNumber;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The last entry number of each root task, and a mark for every 256th number, so that readers need
/// not count from the start. See [EntryNumbering].
final class EntryNumberTable {

  /// Every so many numbers, one gets a row of its own.
  static final int MARK_EVERY = 256;

  private final SqlSession sqlSession;

  EntryNumberTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  /// Counts the entries of one context within one transaction.
  final class EntryCounter {
    private final Map<TaskId, EntryNumber> reached = new HashMap<>();

    void add(Entry entry) throws SQLException {
      var root = EntryNumbering.root(entry);
      if (root == null) {
        return;
      }
      var before = reached.get(root);
      if (before == null) {
        before = last(entry.contextId(), root);
      }
      var now = new EntryNumber(before.number() + 1, entry.position().seq());
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

  EntryCounter counter() {
    return new EntryCounter();
  }

  private void put(String insert, ContextId context, TaskId root, EntryNumber entryNumber)
      throws SQLException {
    sqlSession.update(insert, context, root, entryNumber.number(), entryNumber.seq());
  }

  /// Returns the last number and its seq, or number 0 if there is none.
  EntryNumber last(ContextId context, TaskId root) throws SQLException {
    return sqlSession
        .first(
            "SELECT n, seq FROM numbers WHERE context = ? AND task_id = ?",
            EntryNumberTable::numbered,
            context,
            root)
        .orElse(EntryNumber.NONE);
  }

  /// Returns the last mark that is not above `number`.
  Optional<EntryNumber> lastMark(ContextId context, TaskId root, long number) throws SQLException {
    return sqlSession.first(
        """
        SELECT n, seq FROM marks WHERE context = ? AND task_id = ? AND n <= ?
          ORDER BY n DESC LIMIT 1
        """,
        EntryNumberTable::numbered,
        context,
        root,
        number);
  }

  private static EntryNumber numbered(Row row) throws SQLException {
    return new EntryNumber(row.number("n"), row.number("seq"));
  }
}
