package dev.parley.projection;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.List;

/// One row per text block that has begun and not ended. The text itself stays in the log.
final class OpenTextBlockTable {

  /// An open block, and the seq of its first delta.
  record OpenTextBlock(TaskId task, BlockId id, long firstSeq) {}

  private static final int BLOCKS_MAX = 1000;

  private final SqlSession sqlSession;

  OpenTextBlockTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  void begin(Entry entry, TaskId task, BlockId block) throws SQLException {
    sqlSession.update(
        "INSERT OR IGNORE INTO blocks VALUES (?, ?, ?, ?)",
        entry.contextId(),
        task,
        block,
        entry.position().seq());
  }

  void end(ContextId context, TaskId task, BlockId block) throws SQLException {
    sqlSession.update(
        "DELETE FROM blocks WHERE context = ? AND task_id = ? AND block_id = ?",
        context,
        task,
        block);
  }

  void endAll(ContextId context, TaskId task) throws SQLException {
    sqlSession.update("DELETE FROM blocks WHERE context = ? AND task_id = ?", context, task);
  }

  void removeAfter(ContextId context, long seq) throws SQLException {
    sqlSession.update("DELETE FROM blocks WHERE context = ? AND seq > ?", context, seq);
  }

  List<OpenTextBlock> open(ContextId context) throws SQLException {
    return sqlSession.list(
        "SELECT * FROM blocks WHERE context = ? ORDER BY seq LIMIT ?",
        row ->
            new OpenTextBlock(
                new TaskId(row.text("task_id")),
                new BlockId(row.text("block_id")),
                row.number("seq")),
        context,
        BLOCKS_MAX);
  }
}
