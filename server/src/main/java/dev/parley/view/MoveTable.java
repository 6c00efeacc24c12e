package dev.parley.view;

import dev.parley.log.Changes;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One row per change of a context, in the order in which the views processed them; see [Feed].
///
/// During the first fold of the log nothing is recorded, because those events are old. `live` is 1
/// once that fold is complete. Old rows are pruned; `pruned` is the mark of the last pruned row.
final class MoveTable {

  static final int ROWS_MAX = 100_000;
  private static final int PRUNE_EVERY = 1_000;

  private final Sql sql;
  private int added;

  MoveTable(Sql sql) {
    this.sql = sql;
  }

  private record Known(String owner, Position position) {}

  /// Records that the views have processed the whole log.
  void caughtUp(long mark) throws SQLException {
    sql.update("UPDATE feed SET live = 1, pruned = ? WHERE live = 0", mark);
  }

  /// Records the new positions of contexts under this mark, in the transaction that advances to it.
  void note(Changes changes, ContextTable contexts) throws SQLException {
    var live = sql.first("SELECT live FROM feed", row -> row.flag("live")).orElse(false);
    var n = 0;
    for (var context : changes.contexts()) {
      var known = moved(context);
      var now = contexts.find(context).orElse(null);
      if (now == null) {
        if (known != null) {
          sql.update("DELETE FROM moved WHERE context = ?", context.value());
          add(live, new Feed.Cursor(changes.mark(), n++), context, known, null);
        }
        continue;
      }
      var fork = now.forkedFrom();
      var start = fork == null ? Position.START : Position.of(fork.atSeq());
      var from = known == null ? new Known(now.owner(), start) : known;
      if (now.position().after(from.position())) {
        note(now);
        add(live, new Feed.Cursor(changes.mark(), n++), context, from, now.position());
      }
    }
    added += n;
    if (added >= PRUNE_EVERY) {
      added = 0;
      prune();
    }
  }

  private @Nullable Known moved(ContextId context) throws SQLException {
    return sql.first(
            "SELECT * FROM moved WHERE context = ?",
            row ->
                new Known(
                    row.text("owner"), new Position(row.number("seq"), (int) row.number("k"))),
            context.value())
        .orElse(null);
  }

  private void note(ContextView now) throws SQLException {
    sql.update(
        "INSERT OR REPLACE INTO moved VALUES (?, ?, ?, ?)",
        now.contextId().value(),
        now.owner(),
        now.position().seq(),
        now.position().k());
  }

  private void add(
      boolean live, Feed.Cursor cursor, ContextId context, Known from, @Nullable Position to)
      throws SQLException {
    if (live) {
      sql.update(
          "INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          cursor.mark(),
          cursor.n(),
          context.value(),
          from.owner(),
          from.position().seq(),
          from.position().k(),
          to == null ? null : to.seq(),
          to == null ? null : to.k());
    }
  }

  private void prune() throws SQLException {
    var last =
        sql.first(
            "SELECT mark FROM moves ORDER BY mark DESC, n DESC LIMIT 1 OFFSET " + ROWS_MAX,
            row -> row.number("mark"));
    if (last.isPresent()) {
      sql.update("DELETE FROM moves WHERE mark <= ?", last.get());
      sql.update("UPDATE feed SET pruned = ?", last.get());
    }
  }

  /// Removes the position of a deleted context. The entry for its deletion is written in any case.
  void forget(ContextId context) throws SQLException {
    sql.update("DELETE FROM moves WHERE context = ? AND to_seq IS NOT NULL", context.value());
  }

  long pruned() throws SQLException {
    return sql.first("SELECT pruned FROM feed", row -> row.number("pruned")).orElse(0L);
  }

  /// Returns up to `limit` entries after `cursor`. If the cursor is inside an entry, starts with
  /// that entry.
  List<Feed.Move> page(Feed.Cursor cursor, int limit) throws SQLException {
    return sql.list(
        """
        SELECT * FROM moves WHERE mark > ? OR (mark = ? AND n >= ?)
          ORDER BY mark, n LIMIT ?
        """,
        row -> move(row, cursor),
        cursor.mark(),
        cursor.mark(),
        cursor.within() == null ? cursor.n() + 1L : cursor.n(),
        limit);
  }

  private static Feed.Move move(Row row, Feed.Cursor from) throws SQLException {
    var cursor = new Feed.Cursor(row.number("mark"), (int) row.number("n"));
    var toSeq = row.optionalNumber("to_seq");
    var to = toSeq == null ? null : new Position(toSeq, (int) row.number("to_k"));
    var begin = new Position(row.number("from_seq"), (int) row.number("from_k"));
    var within =
        from.mark() == cursor.mark() && from.n() == cursor.n() && from.within() != null
            ? from.within()
            : begin;
    return new Feed.Move(cursor, new ContextId(row.text("context")), row.text("owner"), within, to);
  }
}
