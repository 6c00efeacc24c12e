package dev.parley.projection;

import dev.parley.log.ChangedContexts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Position;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One row per change of a context, in the order in which the views processed them; see [ContextFeed].
///
/// During the first fold of the log nothing is recorded, because those events are old. `live` is 1
/// once that fold is complete. Old rows are pruned; `pruned` is the mark of the last pruned row.
final class FeedTable {

  static final int ROWS_MAX = 100_000;
  private static final int PRUNE_EVERY = 1_000;

  private final SqlSession sqlSession;
  private int added;

  FeedTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  /// Forgets all entries, because another server has continued the log meanwhile: its readers have
  /// cursors between entries that this server processes at once.
  void restart() throws SQLException {
    sqlSession.update("DELETE FROM moves");
    sqlSession.update("UPDATE feed SET live = 0, pruned = " + Long.MAX_VALUE);
  }

  private record KnownPosition(String owner, Position position) {}

  /// Records that the views have processed the whole log.
  void markCaughtUp(long mark) throws SQLException {
    sqlSession.update("UPDATE feed SET live = 1, pruned = ? WHERE live = 0", mark);
  }

  /// Records the new positions of contexts under this mark, in the transaction that advances to it.
  void write(ChangedContexts changedContexts, ContextTable contexts) throws SQLException {
    var live = sqlSession.first("SELECT live FROM feed", row -> row.flag("live")).orElse(false);
    var n = 0;
    for (var context : changedContexts.contexts()) {
      var knownPosition = find(context);
      var now = contexts.find(context).orElse(null);
      if (now == null) {
        if (knownPosition != null) {
          sqlSession.update("DELETE FROM moved WHERE context = ?", context);
          add(
              live,
              new ContextFeed.FeedCursor(changedContexts.mark(), n++),
              context,
              knownPosition,
              null);
        }
        continue;
      }
      var fork = now.forkedFrom();
      var start = fork == null ? Position.START : Position.of(fork.atSeq());
      var from = knownPosition == null ? new KnownPosition(now.owner(), start) : knownPosition;
      if (now.position().after(from.position())) {
        write(now);
        add(
            live,
            new ContextFeed.FeedCursor(changedContexts.mark(), n++),
            context,
            from,
            now.position());
      }
    }
    added += n;
    if (added >= PRUNE_EVERY) {
      added = 0;
      prune();
    }
  }

  private @Nullable KnownPosition find(ContextId context) throws SQLException {
    return sqlSession
        .first(
            "SELECT * FROM moved WHERE context = ?",
            row ->
                new KnownPosition(
                    row.text("owner"), new Position(row.number("seq"), (int) row.number("k"))),
            context)
        .orElse(null);
  }

  private void write(ContextView now) throws SQLException {
    sqlSession.update(
        "INSERT OR REPLACE INTO moved VALUES (?, ?, ?, ?)",
        now.contextId(),
        now.owner(),
        now.position().seq(),
        now.position().k());
  }

  private void add(
      boolean live,
      ContextFeed.FeedCursor feedCursor,
      ContextId context,
      KnownPosition from,
      @Nullable Position to)
      throws SQLException {
    if (live) {
      sqlSession.update(
          "INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          feedCursor.mark(),
          feedCursor.n(),
          context,
          from.owner(),
          from.position().seq(),
          from.position().k(),
          to == null ? null : to.seq(),
          to == null ? null : to.k());
    }
  }

  private void prune() throws SQLException {
    var last =
        sqlSession.first(
            "SELECT mark FROM moves ORDER BY mark DESC, n DESC LIMIT 1 OFFSET " + ROWS_MAX,
            row -> row.number("mark"));
    if (last.isPresent()) {
      sqlSession.update("DELETE FROM moves WHERE mark <= ?", last.get());
      sqlSession.update("UPDATE feed SET pruned = ?", last.get());
    }
  }

  /// Removes the position of a deleted context. The entry for its deletion is written in any case.
  void forget(ContextId context) throws SQLException {
    sqlSession.update("DELETE FROM moves WHERE context = ? AND to_seq IS NOT NULL", context);
  }

  long pruned() throws SQLException {
    return sqlSession.first("SELECT pruned FROM feed", row -> row.number("pruned")).orElse(0L);
  }

  /// Returns up to `limit` entries after `cursor`. If the cursor is inside an entry, starts with
  /// that entry.
  List<ContextFeed.FeedEntry> page(ContextFeed.FeedCursor feedCursor, int limit)
      throws SQLException {
    return sqlSession.list(
        """
        SELECT * FROM moves WHERE mark > ? OR (mark = ? AND n >= ?)
          ORDER BY mark, n LIMIT ?
        """,
        row -> entry(row, feedCursor),
        feedCursor.mark(),
        feedCursor.mark(),
        feedCursor.within() == null ? feedCursor.n() + 1L : feedCursor.n(),
        limit);
  }

  private static ContextFeed.FeedEntry entry(Row row, ContextFeed.FeedCursor from)
      throws SQLException {
    var feedCursor = new ContextFeed.FeedCursor(row.number("mark"), (int) row.number("n"));
    var toSeq = row.optionalNumber("to_seq");
    var to = toSeq == null ? null : new Position(toSeq, (int) row.number("to_k"));
    var begin = new Position(row.number("from_seq"), (int) row.number("from_k"));
    var within =
        from.mark() == feedCursor.mark() && from.n() == feedCursor.n() && from.within() != null
            ? from.within()
            : begin;
    return new ContextFeed.FeedEntry(
        feedCursor, new ContextId(row.text("context")), row.text("owner"), within, to);
  }
}
