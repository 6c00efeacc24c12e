package dev.parley.view;

import dev.parley.protocol.ContextId;
import java.sql.SQLException;
import java.util.TreeMap;

/// The tables of the views. Only the thread of the views uses them, within a transaction.
record Tables(
    Sql sql,
    ContextTable contexts,
    MessageTable messages,
    TaskTable tasks,
    ArtifactTable artifacts,
    UsageTable usage,
    StateTable state,
    PendingTable inputs,
    PendingTable auths,
    BlockTable blocks,
    RewindTable rewinds,
    NumberTable numbers,
    MoveTable moves,
    StoredTable stored,
    TextTable texts) {

  static Tables of(Sql sql) {
    var texts = new TextTable(sql);
    return new Tables(
        sql,
        new ContextTable(sql),
        new MessageTable(sql, texts),
        new TaskTable(sql, texts),
        new ArtifactTable(sql),
        new UsageTable(sql),
        new StateTable(sql),
        PendingTable.inputs(sql),
        PendingTable.auths(sql),
        new BlockTable(sql),
        new RewindTable(sql),
        new NumberTable(sql),
        new MoveTable(sql),
        new StoredTable(sql),
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
      found += sql.update("DELETE FROM " + table + " WHERE context = ?", context.value());
    }
    moves.forget(context);
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
