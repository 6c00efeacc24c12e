package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// One row for each time that a client stored a task, and one for each time that a client removed
/// one; `task` is then null.
///
/// The last active row is the current state. A rewind undoes the storing of tasks, but not their
/// removal.
final class StoredTaskTable {

  /// A condition for queries on tasks `t` that excludes removed tasks.
  static final String NOT_REMOVED =
      """
       AND NOT EXISTS (SELECT 1 FROM stored s INDEXED BY stored_by_task WHERE s.context = t.context
         AND s.task_id = t.root_task_id AND s.rewound = 0 AND s.task IS NULL)
      """;

  private static final String LAST =
      """
       seq = (SELECT max(seq) FROM stored l INDEXED BY stored_by_task
         WHERE l.context = stored.context AND l.task_id = stored.task_id AND l.rewound = 0)
      """;

  private final SqlSession sqlSession;
  private final TextTable texts;

  StoredTaskTable(SqlSession sqlSession, TextTable texts) {
    this.sqlSession = sqlSession;
    this.texts = texts;
  }

  /// A task that was removed at `seq`.
  record RemovedTask(long seq, TaskId task) {}

  void add(Entry entry, TaskId task, TaskStored stored) throws SQLException {
    sqlSession.update(
        """
        INSERT INTO stored (context, seq, task_id, task) VALUES (?, ?, ?, ?)
        """,
        entry.contextId(),
        entry.position().seq(),
        task,
        texts.putFinalJson(entry.contextId(), stored.task()));
  }

  /// Removes a task. A task that a fork shares still belongs to the fork's source.
  void remove(ContextId context, RemovedTask removal) throws SQLException {
    sqlSession.update(
        """
        INSERT INTO stored (context, seq, task_id, task, shared) VALUES (?1, ?2, ?3, NULL,
          EXISTS (SELECT 1 FROM tasks t INDEXED BY tasks_by_id
            WHERE t.task_id = ?3 AND t.context = ?1 AND t.shared = 1)
          OR EXISTS (SELECT 1 FROM stored s INDEXED BY stored_by_task
            WHERE s.task_id = ?3 AND s.context = ?1 AND s.shared = 1))
        """,
        context,
        removal.seq(),
        removal.task());
  }

  /// Returns the tasks that were removed after `seq`.
  List<RemovedTask> removalsAfter(ContextId context, long seq) throws SQLException {
    return sqlSession.list(
        "SELECT seq, task_id FROM stored WHERE context = ? AND seq > ? AND task IS NULL ORDER BY"
            + " seq",
        row -> new RemovedTask(row.number("seq"), new TaskId(row.text("task_id"))),
        context,
        seq);
  }

  /// Marks tasks that were stored up to `seq` as shared: they belong to the fork's source.
  void markShared(ContextId context, long seq) throws SQLException {
    sqlSession.update(
        "UPDATE stored SET shared = 1 WHERE context = ? AND seq <= ? AND shared = 0", context, seq);
  }

  Optional<ObjectNode> find(ContextId context, TaskId task) throws SQLException {
    return sqlSession
        .list(
            "SELECT task FROM stored INDEXED BY stored_by_task WHERE context = ? AND task_id = ?"
                + " AND"
                + LAST,
            row -> Optional.ofNullable(row.optionalLongObject("task")),
            context,
            task)
        .stream()
        .flatMap(Optional::stream)
        .findFirst();
  }

  /// Returns all stored tasks, oldest first.
  List<StoredTask> list(ContextId context, int limit) throws SQLException {
    return sqlSession.list(
        """
        SELECT task_id, task, (SELECT min(f.seq) FROM stored f INDEXED BY stored_by_task
          WHERE f.context = stored.context AND f.task_id = stored.task_id
          AND f.rewound = 0) AS first
        FROM stored WHERE context = ? AND rewound = 0 AND task IS NOT NULL AND
        """
            + LAST
            + " ORDER BY first LIMIT ?",
        row ->
            new StoredTask(
                new TaskId(row.text("task_id")), row.number("first"), row.longObject("task")),
        context,
        limit);
  }

  /// Returns the context of a stored or removed task, rewound or not.
  Optional<ContextId> contextOf(TaskId task) throws SQLException {
    return sqlSession.first(
        "SELECT context FROM stored WHERE task_id = ? AND shared = 0 ORDER BY context LIMIT 1",
        row -> new ContextId(row.text("context")),
        task);
  }

  /// Returns true if the task was ever removed.
  boolean wasRemoved(ContextId context, TaskId task) throws SQLException {
    return sqlSession
        .first(
            """
            SELECT seq FROM stored INDEXED BY stored_by_task
            WHERE context = ? AND task_id = ? AND task IS NULL LIMIT 1
            """,
            row -> row.number("seq"),
            context,
            task)
        .isPresent();
  }

  /// Returns true if the task was ever stored in this context, rewound or not.
  boolean wasStored(ContextId context, TaskId task) throws SQLException {
    return sqlSession
        .first(
            """
            SELECT seq FROM stored INDEXED BY stored_by_task
            WHERE context = ? AND task_id = ? AND task IS NOT NULL LIMIT 1
            """,
            row -> row.number("seq"),
            context,
            task)
        .isPresent();
  }
}
