package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// One row per pending input or sign-in: the entry that requested it. The table `questions` keeps
/// the task that asked, also after the answer.
final class PendingTable {

  private static final int PENDING_MAX = 1000;

  private final SqlSession sqlSession;
  private final String table;

  private PendingTable(SqlSession sqlSession, String table) {
    this.sqlSession = sqlSession;
    this.table = table;
  }

  static PendingTable inputs(SqlSession sqlSession) {
    return new PendingTable(sqlSession, "inputs");
  }

  static PendingTable auths(SqlSession sqlSession) {
    return new PendingTable(sqlSession, "auths");
  }

  void add(Entry entry, Id id) throws SQLException {
    sqlSession.update(
        "INSERT OR REPLACE INTO " + table + " VALUES (?, ?, ?, ?, ?, ?)",
        entry.contextId(),
        id,
        entry.position().seq(),
        entry.taskId(),
        entry.timestamp().toEpochMilli(),
        EventJson.text(entry));
    sqlSession.update(
        "INSERT OR REPLACE INTO questions VALUES (?, ?, ?, ?)",
        entry.contextId(),
        table,
        id,
        entry.taskId());
  }

  /// Returns the task that asked, answered or not.
  Optional<TaskId> askingTask(ContextId context, Id id) throws SQLException {
    return sqlSession
        .first(
            "SELECT task_id FROM questions WHERE context = ? AND kind = ? AND id = ? AND task_id IS"
                + " NOT NULL",
            row -> row.text("task_id"),
            context,
            table,
            id)
        .map(TaskId::new);
  }

  void remove(ContextId context, Id id) throws SQLException {
    sqlSession.update("DELETE FROM " + table + " WHERE context = ? AND id = ?", context, id);
  }

  void removeOfTask(ContextId context, TaskId task) throws SQLException {
    sqlSession.update("DELETE FROM " + table + " WHERE context = ? AND task_id = ?", context, task);
  }

  void removeAfter(ContextId context, long seq) throws SQLException {
    sqlSession.update("DELETE FROM " + table + " WHERE context = ? AND seq > ?", context, seq);
  }

  /// Returns all pending requests, oldest first.
  List<JsonNode> all(ContextId context) throws SQLException {
    return sqlSession.list(
        "SELECT entry FROM " + table + " WHERE context = ? ORDER BY seq LIMIT ?",
        row -> Json.mapper().readTree(row.text("entry")),
        context,
        PENDING_MAX);
  }
}
