package dev.parley.projection;

import dev.parley.protocol.Json;
import dev.parley.protocol.PendingView;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Lists the pending inputs and sign-ins of all contexts, from both of their tables.
final class PendingQueries {

  private static final String VISIBLE = VisibleContexts.condition("c.owner", "c.context");
  private static final String SELECT =
      """
      SELECT 'input' AS kind, p.asked_at, p.context, p.id, p.entry, c.title
      FROM inputs p JOIN contexts c ON c.context = p.context
      WHERE (p.asked_at, p.context, p.id) > (?, ?, ?)
        AND %s
      UNION ALL
      SELECT 'auth', p.asked_at, p.context, p.id, p.entry, c.title
      FROM auths p JOIN contexts c ON c.context = p.context
      WHERE (p.asked_at, p.context, p.id) > (?, ?, ?)
        AND %s
      ORDER BY 2, 3, 4 LIMIT ?
      """
          .formatted(VISIBLE, VISIBLE);

  private final SqlSession sqlSession;

  PendingQueries(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  /// Returns what follows `cursor` in the visible contexts, oldest first.
  List<PendingView> page(VisibleContexts visible, PendingCursor cursor, int limit)
      throws SQLException {
    var context = ColumnValues.id(cursor.context());
    var id = ColumnValues.id(cursor.id());
    var values = new ArrayList<@Nullable Object>();
    for (var table = 0; table < 2; table++) {
      values.addAll(List.of(cursor.askedAt(), context, id));
      values.addAll(visible.values());
    }
    values.add(limit);
    return sqlSession.list(SELECT, PendingQueries::view, values.toArray());
  }

  private static PendingView view(Row row) throws SQLException {
    var entry = (ObjectNode) Json.mapper().readTree(row.text("entry"));
    entry.put("kind", row.text("kind"));
    var title = row.optionalText("title");
    if (title != null) {
      entry.put("title", title);
    }
    return Json.read(entry, PendingView.class);
  }

  /// The end of a page of pending inputs and sign-ins: when the last one was requested, and its id.
  record PendingCursor(long askedAt, String context, String id) {

    private static final PendingCursor START = new PendingCursor(-1, "", "");

    /// A character that does not occur in ids.
    private static final char BETWEEN = '~';

    static PendingCursor of(PendingView last) {
      return new PendingCursor(
          last.timestamp().toEpochMilli(), last.contextId().value(), last.id());
    }

    static PendingCursor parse(@Nullable String text) {
      if (text == null) {
        return START;
      }
      var parts = text.split(String.valueOf(BETWEEN), -1);
      if (parts.length != 3) {
        throw SeqCursor.invalid();
      }
      return new PendingCursor(SeqCursor.parse(parts[0]), parts[1], parts[2]);
    }

    @Override
    public String toString() {
      return askedAt + String.valueOf(BETWEEN) + context + BETWEEN + id;
    }
  }
}
