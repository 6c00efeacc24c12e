package dev.parley.projection;

import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.ContextView.ForkedFrom;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskState;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One row per context: its list entry, and the position up to which all its tables are folded.
///
/// `title_seq` is the seq of the message that the title was taken from. It is null if the title was
/// set explicitly.
final class ContextTable {

  private static final int TITLE_MAX = 50;

  /// The columns that [#view] reads, of a context with the alias `c`.
  static final String COLUMNS =
      """
      c.*, (SELECT l.status FROM tasks l
        WHERE l.context = c.context AND l.rewound = 0 AND l.parent_task_id IS NULL
        ORDER BY l.seq DESC LIMIT 1) AS last_status
      """;

  private static final String VISIBLE = VisibleContexts.condition("c.owner", "c.context");
  private static final String NEWEST = " ORDER BY c.updated_at DESC, c.context DESC ";

  private final SqlSession sqlSession;

  ContextTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  Position position(ContextId context) throws SQLException {
    return sqlSession
        .first(
            "SELECT seq, k FROM contexts WHERE context = ?",
            row -> new Position(row.number("seq"), (int) row.number("k")),
            context)
        .orElse(Position.START);
  }

  /// The position up to which a context is folded, and the time of the entry at that position.
  record FoldedContext(ContextId context, Position position, long millis) {}

  /// Returns the contexts that changed last.
  List<FoldedContext> newest(int limit) throws SQLException {
    return sqlSession.list(
        "SELECT context, seq, k, updated_at FROM contexts ORDER BY updated_at DESC LIMIT ?",
        row ->
            new FoldedContext(
                new ContextId(row.text("context")),
                new Position(row.number("seq"), (int) row.number("k")),
                row.number("updated_at")),
        limit);
  }

  /// Adds a row for the context of this entry, if there is none.
  void begin(Entry entry) throws SQLException {
    var now = entry.timestamp().toEpochMilli();
    sqlSession.update(
        "INSERT OR IGNORE INTO contexts VALUES (?, '', NULL, NULL, ?, ?, 0, 0, 0, 0, NULL, NULL,"
            + " 0)",
        entry.contextId(),
        now,
        now);
  }

  /// Records that everything up to this entry is folded.
  void advanceTo(Entry entry) throws SQLException {
    sqlSession.update(
        "UPDATE contexts SET seq = ?, k = ?, updated_at = ? WHERE context = ?",
        entry.position().seq(),
        entry.position().k(),
        entry.timestamp().toEpochMilli(),
        entry.contextId());
  }

  void create(Entry entry, ContextCreated created) throws SQLException {
    sqlSession.update(
        "UPDATE contexts SET owner = ?, title = ?, metadata = ?, created_at = ? WHERE context = ?",
        created.owner(),
        created.title(),
        ColumnValues.json(created.metadata()),
        entry.timestamp().toEpochMilli(),
        entry.contextId());
  }

  /// Writes the fields that differ from the fork's source.
  void fork(Entry entry, ContextForked forked) throws SQLException {
    sqlSession.update(
        """
        UPDATE contexts SET owner = coalesce(?, owner), title = coalesce(?, title),
          title_seq = CASE WHEN ? IS NULL THEN title_seq END, created_at = ?,
          forked_from = ?, forked_at = ?
        WHERE context = ?
        """,
        forked.owner(),
        forked.title(),
        forked.title(),
        entry.timestamp().toEpochMilli(),
        forked.sourceContextId(),
        forked.atSeq(),
        entry.contextId());
  }

  void update(ContextId context, ContextUpdated updated) throws SQLException {
    if (updated.title() != null) {
      sqlSession.update(
          "UPDATE contexts SET title = ?, title_seq = NULL WHERE context = ?",
          updated.title(),
          context);
    }
    if (updated.metadata() != null) {
      sqlSession.update(
          "UPDATE contexts SET metadata = ? WHERE context = ?",
          ColumnValues.json(updated.metadata()),
          context);
    }
  }

  /// Takes the title from the first message of a person, unless there is a title.
  void takeTitle(Entry entry, Message message) throws SQLException {
    if (message.role() == Role.USER && !message.content().isEmpty()) {
      sqlSession.update(
          "UPDATE contexts SET title = ?, title_seq = ? WHERE context = ? AND title IS NULL",
          title(message.content()),
          entry.position().seq(),
          entry.contextId());
    }
  }

  /// Returns the first characters of `content`, and never splits a surrogate pair.
  static String title(String content) {
    if (content.length() <= TITLE_MAX) {
      return content;
    }
    var split =
        Character.isHighSurrogate(content.charAt(TITLE_MAX - 1))
            && Character.isLowSurrogate(content.charAt(TITLE_MAX));
    return content.substring(0, split ? TITLE_MAX - 1 : TITLE_MAX);
  }

  /// After a rewind or a correction, replaces a title that was taken from a message by that of the
  /// first message that is still active.
  void recomputeTitle(ContextId context) throws SQLException {
    var id = context;
    sqlSession.update(
        """
        UPDATE contexts SET title = NULL, title_seq = NULL
        WHERE context = ? AND title_seq IS NOT NULL
        """,
        id);
    record First(long seq, String content) {}
    var first =
        sqlSession.first(
            """
            SELECT m.seq, coalesce(e.content, m.content) AS content FROM messages m LEFT JOIN edits e
              ON e.context = m.context AND e.seq = m.edit AND e.message_seq = m.seq
            WHERE m.context = ? AND m.rewound = 0 AND m.deleted = 0 AND m.role = 'user'
              AND coalesce(e.content, m.content) <> ''
            ORDER BY m.seq LIMIT 1
            """,
            row -> new First(row.number("seq"), row.longText("content")),
            id);
    if (first.isPresent()) {
      sqlSession.update(
          "UPDATE contexts SET title = ?, title_seq = ? WHERE context = ? AND title IS NULL",
          title(first.get().content()),
          first.get().seq(),
          id);
    }
  }

  void addMessages(ContextId context, int count) throws SQLException {
    sqlSession.update(
        "UPDATE contexts SET message_count = message_count + ? WHERE context = ?", count, context);
  }

  void countMessages(ContextId context) throws SQLException {
    sqlSession.update(
        """
        UPDATE contexts SET message_count = (SELECT count(*) FROM messages m
          WHERE m.context = contexts.context AND m.rewound = 0 AND m.deleted = 0)
        WHERE context = ?
        """,
        context);
  }

  void countOpenTasks(ContextId context) throws SQLException {
    sqlSession.update(
        """
        UPDATE contexts SET open_tasks = (SELECT count(*)
          FROM tasks t INDEXED BY tasks_open WHERE t.context = contexts.context AND t.ended_at IS NULL AND t.rewound = 0)
        WHERE context = ?
        """,
        context);
  }

  Optional<ContextView> find(ContextId context) throws SQLException {
    return sqlSession.first(
        "SELECT " + COLUMNS + " FROM contexts c WHERE c.context = ?", ContextTable::view, context);
  }

  /// Returns the visible contexts after `cursor`, last changed first.
  List<ContextView> page(VisibleContexts visible, ContextCursor cursor, int limit)
      throws SQLException {
    return sqlSession.list(
        "SELECT "
            + COLUMNS
            + """
             FROM contexts c
            WHERE (c.updated_at, c.context) < (?, ?)
              AND
            """
            + VISIBLE
            + NEWEST
            + "LIMIT ?",
        ContextTable::view,
        visible.values(List.of(cursor.updatedAt(), ColumnValues.id(cursor.context())), limit));
  }

  List<ContextView> page(VisibleContexts visible, long offset, int limit) throws SQLException {
    return sqlSession.list(
        "SELECT " + COLUMNS + " FROM contexts c WHERE " + VISIBLE + NEWEST + "LIMIT ? OFFSET ?",
        ContextTable::view,
        visible.values(List.of(), limit, offset));
  }

  long count(VisibleContexts visible) throws SQLException {
    return sqlSession
        .first(
            "SELECT count(*) AS n FROM contexts c WHERE " + VISIBLE,
            row -> row.number("n"),
            visible.values(List.of()))
        .orElseThrow();
  }

  private static @Nullable ForkedFrom forkedFrom(Row row) throws SQLException {
    var source = row.optionalId("forked_from", ContextId::new);
    return source == null ? null : new ForkedFrom(source, row.number("forked_at"));
  }

  static ContextView view(Row row) throws SQLException {
    return new ContextView(
        new ContextId(row.text("context")),
        row.optionalText("title"),
        row.text("owner"),
        row.time("created_at"),
        row.time("updated_at"),
        new Position(row.number("seq"), (int) row.number("k")),
        row.number("message_count"),
        row.number("open_tasks"),
        row.optionalName("last_status", TaskState.class),
        row.optionalObject("metadata"),
        forkedFrom(row));
  }

  /// The end of a page of contexts: when the last context changed, and its id.
  ///
  /// A context that changes later moves to the front of the list, before any cursor, so it is never
  /// listed twice.
  record ContextCursor(long updatedAt, String context) {

    private static final ContextCursor START = new ContextCursor(Long.MAX_VALUE, "");

    static ContextCursor of(ContextView last) {
      return new ContextCursor(last.updatedAt().toEpochMilli(), last.contextId().value());
    }

    static ContextCursor parse(@Nullable String text) {
      if (text == null) {
        return START;
      }
      var dot = text.indexOf('.');
      if (dot < 0) {
        throw SeqCursor.invalid();
      }
      return new ContextCursor(SeqCursor.parse(text.substring(0, dot)), text.substring(dot + 1));
    }

    @Override
    public String toString() {
      return updatedAt + "." + context;
    }
  }
}
