package dev.parley.projection;

import dev.parley.protocol.ContextId;
import java.sql.SQLException;
import java.util.TreeMap;

/// The tables of the views. Only the thread of the views uses them, within a transaction.
record ViewTables(
    SqlSession sql,
    ContextTable contexts,
    MessageTable messages,
    TaskTable tasks,
    ArtifactTable artifacts,
    UsageTable usage,
    StateTable state,
    PendingTable inputs,
    PendingTable auths,
    OpenTextBlockTable blocks,
    RewindTable rewinds,
    EntryNumberTable numbers,
    FeedTable feed,
    StoredTaskTable stored,
    TextTable texts) {

  static ViewTables of(SqlSession sqlSession) {
    var texts = new TextTable(sqlSession);
    return new ViewTables(
        sqlSession,
        new ContextTable(sqlSession),
        new MessageTable(sqlSession, texts),
        new TaskTable(sqlSession, texts),
        new ArtifactTable(sqlSession),
        new UsageTable(sqlSession),
        new StateTable(sqlSession, texts),
        PendingTable.inputs(sqlSession),
        PendingTable.auths(sqlSession),
        new OpenTextBlockTable(sqlSession),
        new RewindTable(sqlSession),
        new EntryNumberTable(sqlSession),
        new FeedTable(sqlSession),
        new StoredTaskTable(sqlSession, texts),
        texts);
  }

  /// Returns the mark up to which all contexts are folded, in the log's order of changes.
  long mark() throws SQLException {
    return sql.first("SELECT mark FROM meta", row -> row.number("mark")).orElse(0L);
  }

  void advance(long mark) throws SQLException {
    sql.update("UPDATE meta SET mark = max(mark, ?)", mark);
  }

  /// Removes all rows of the context. False if there were none.
  boolean forget(ContextId context) throws SQLException {
    var found = 0;
    texts.forget(context);
    for (var table : ViewSchema.KEYS.keySet()) {
      found += sql.update("DELETE FROM " + table + " WHERE context = ?", context);
    }
    feed.forget(context);
    return found > 0;
  }

  /// Returns all rows of all tables as text, sorted by their keys.
  String dump() throws SQLException {
    var text = new StringBuilder();
    for (var table : new TreeMap<>(ViewSchema.KEYS).entrySet()) {
      text.append(table.getKey()).append('\n');
      sql.list("SELECT * FROM " + table.getKey() + " ORDER BY " + table.getValue(), Row::dump)
          .forEach(row -> text.append(row).append('\n'));
    }
    return text.toString();
  }
}
