package dev.parley.projection;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.MessageView.EditView;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One row per original message, and one per edit or deletion. Rewinds do not undo edits and
/// deletions.
///
/// `messages.edit` is the seq of the last edit.
final class MessageTable {

  private static final String AS_READ =
      """
      SELECT m.seq, m.message_id, m.role, m.parts, m.task_id, m.agent_id, m.created_at,
        coalesce(e.content, m.content) AS content, e.edited_at,
        CASE WHEN m.edit IS NULL THEN m.metadata ELSE e.metadata END AS metadata
      FROM messages m LEFT JOIN edits e
        ON e.context = m.context AND e.seq = m.edit AND e.message_seq = m.seq
      """;

  private static final String VISIBLE =
      AS_READ + " WHERE m.context = ? AND m.rewound = 0 AND m.deleted = 0\n";

  private final SqlSession sqlSession;
  private final TextTable texts;

  MessageTable(SqlSession sqlSession, TextTable texts) {
    this.sqlSession = sqlSession;
    this.texts = texts;
  }

  /// Adds a message. Returns false if it is hidden from the start, because it is a summary of text
  /// that was corrected meanwhile.
  boolean add(Entry entry, Message message) throws SQLException {
    var hidden = outdated(entry, message);
    var origin = entry.origin();
    var task = taskOf(entry, message);
    sqlSession.update(
        """
        INSERT INTO messages (context, seq, message_id, role, content, parts, task_id, agent_id,
          created_at, metadata, deleted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        entry.contextId(),
        entry.position().seq(),
        message.messageId(),
        message.role().wire(),
        texts.put(entry.contextId(), message.content()),
        texts.put(entry.contextId(), ColumnValues.json(message.parts())),
        task,
        origin == null ? null : origin.agentId().value(),
        entry.timestamp().toEpochMilli(),
        texts.putFinalJson(entry.contextId(), message.metadata()),
        hidden);
    return !hidden;
  }

  /// An edit of a message, or its deletion if `content` is null.
  ///
  /// A correction concerns the text and is not part of the conversation's history. It applies to
  /// every earlier message with the id, rewound or not, and no rewind undoes it. `ofSeq` is the seq
  /// of the first such message, or 0 if unknown.
  record Correction(
      long seq,
      MessageId messageId,
      long ofSeq,
      @Nullable String content,
      @Nullable ObjectNode metadata,
      Instant at) {

    /// Returns the correction as an event for another context.
    Event event() {
      return content == null
          ? new MessageDeleted(messageId)
          : new MessageUpdated(messageId, content, metadata);
    }

    static Correction of(Entry entry, MessageUpdated updated) {
      return new Correction(
          entry.position().seq(),
          updated.messageId(),
          0,
          updated.content(),
          updated.metadata(),
          entry.timestamp());
    }

    static Correction of(Entry entry, MessageDeleted deleted) {
      return new Correction(
          entry.position().seq(), deleted.messageId(), 0, null, null, entry.timestamp());
    }
  }

  /// Edits or hides messages, and hides summaries of the old text.
  ///
  /// @return true if there is such a message
  boolean correct(ContextId context, Correction correction) throws SQLException {
    record Said(long seq, String content, @Nullable ObjectNode metadata, @Nullable TaskId task) {}
    var found =
        sqlSession.list(
            AS_READ
                + """
                WHERE m.context = ? AND m.deleted = 0 AND m.seq < ? AND m.seq IN (
                  SELECT seq FROM messages INDEXED BY messages_by_id
                  WHERE context = ? AND message_id = ?)
                """,
            row ->
                new Said(
                    row.number("seq"),
                    row.longText("content"),
                    row.optionalLongObject("metadata"),
                    row.optionalId("task_id", TaskId::new)),
            context,
            correction.seq(),
            context,
            correction.messageId());
    for (var said : found) {
      var metadata = ColumnValues.merged(said.metadata(), correction.metadata());
      addEdit(context, correction, said.seq(), texts.putJson(context, metadata));
      if (correction.content() == null) {
        sqlSession.update(
            "UPDATE messages SET deleted = 1 WHERE context = ? AND seq = ?", context, said.seq());
      } else {
        sqlSession.update(
            "UPDATE messages SET edit = ? WHERE context = ? AND seq = ?",
            correction.seq(),
            context,
            said.seq());
      }
      hideSummaries(context, said.seq(), correction.seq());
      correctTasks(context, said.task(), said.content(), correction.content());
    }
    return !found.isEmpty();
  }

  /// Hides summaries that include the message at `seq` and were made before it was corrected.
  private void hideSummaries(ContextId context, long seq, long correctedAt) throws SQLException {
    sqlSession.update(
        "UPDATE messages SET deleted = 1 WHERE context = ? AND seq > ? AND role = 'system'"
            + " AND seq < ? AND json_extract("
            + TextTable.jsonIn("metadata")
            + ", '$.summary.throughSeq') >= ?",
        context,
        seq,
        correctedAt,
        seq);
  }

  /// Updates the prompts and answers of tasks to the corrected text.
  private void correctTasks(
      ContextId context, @Nullable TaskId root, String before, @Nullable String after)
      throws SQLException {
    if (root == null || before.isEmpty()) {
      return;
    }
    for (var column : List.of("prompt", "content")) {
      sqlSession.update(
          "UPDATE tasks INDEXED BY tasks_by_root SET %1$s = ? WHERE context = ? AND root_task_id = ? AND %1$s = ?"
              .formatted(column),
          texts.put(context, after),
          context,
          root,
          TextTable.column(before));
    }
  }

  /// Returns true if the message is a summary, and a message in it was corrected after the
  /// summarizer had read it.
  private boolean outdated(Entry entry, Message message) throws SQLException {
    var summary = message.facts().summary().orElse(null);
    if (message.role() != Role.SYSTEM || summary == null || summary.asOf() == null) {
      return false;
    }
    return sqlSession
        .first(
            "SELECT seq FROM edits WHERE context = ? AND seq > ? AND message_seq <= ? LIMIT 1",
            row -> row.number("seq"),
            entry.contextId(),
            summary.asOf(),
            summary.throughSeq())
        .isPresent();
  }

  /// Returns all messages that were edited or hidden, oldest first.
  List<CorrectedMessage> corrected(ContextId context) throws SQLException {
    record Edited(long message, String content) {}
    var edits = new HashMap<Long, List<String>>();
    sqlSession
        .list(
            "SELECT message_seq, content FROM edits WHERE context = ? AND deletes = 0 ORDER BY seq",
            row -> new Edited(row.number("message_seq"), row.longText("content")),
            context)
        .forEach(
            edit ->
                edits.computeIfAbsent(edit.message(), _ -> new ArrayList<>()).add(edit.content()));
    return sqlSession.list(
        """
        SELECT seq, message_id, role, task_id, content, deleted FROM messages
        WHERE context = ? AND (deleted = 1 OR edit IS NOT NULL) ORDER BY seq
        """,
        row -> {
          var texts = new ArrayList<>(List.of(row.longText("content")));
          texts.addAll(edits.getOrDefault(row.number("seq"), List.of()));
          var now = row.flag("deleted") ? null : texts.removeLast();
          return new CorrectedMessage(
              new MessageId(row.text("message_id")),
              row.number("seq"),
              row.name("role", Role.class),
              row.optionalId("task_id", TaskId::new),
              texts,
              now);
        },
        context);
  }

  /// Returns the last correction of each message up to `seq` that was corrected after `seq`.
  List<Correction> lastCorrections(ContextId context, long seq) throws SQLException {
    var last = new LinkedHashMap<MessageId, Correction>();
    for (var correction : correctionsAfter(context, seq)) {
      if (correction.ofSeq() <= seq) {
        // A deletion is always the last correction.
        last.put(correction.messageId(), correction);
      }
    }
    return List.copyOf(last.values());
  }

  /// Returns each correction after `seq` once, oldest first.
  List<Correction> correctionsAfter(ContextId context, long seq) throws SQLException {
    return sqlSession.list(
        """
        SELECT e.seq, m.message_id, min(e.message_seq) AS of_seq, e.content, e.metadata, e.edited_at
        FROM edits e JOIN messages m ON m.context = e.context AND m.seq = e.message_seq
        WHERE e.context = ? AND e.seq > ? GROUP BY e.seq ORDER BY e.seq
        """,
        row ->
            new Correction(
                row.number("seq"),
                new MessageId(row.text("message_id")),
                row.number("of_seq"),
                row.optionalLongText("content"),
                row.optionalLongObject("metadata"),
                row.time("edited_at")),
        context,
        seq);
  }

  List<MessageView> page(ContextId context, long after, int limit) throws SQLException {
    return sqlSession.list(
        VISIBLE + " AND m.seq > ? ORDER BY m.seq LIMIT ?",
        MessageTable::view,
        context,
        after,
        limit);
  }

  List<MessageView> pageFrom(ContextId context, long offset, int limit) throws SQLException {
    return sqlSession.list(
        VISIBLE + " ORDER BY m.seq LIMIT ? OFFSET ?", MessageTable::view, context, limit, offset);
  }

  /// Returns the text of the message at `seq` before each edit.
  List<EditView> edits(ContextId context, long seq) throws SQLException {
    return sqlSession.list(
        """
        SELECT edited_at, coalesce(lag(content) OVER (ORDER BY seq),
          (SELECT m.content FROM messages m WHERE m.context = edits.context
            AND m.seq = edits.message_seq)) AS content
        FROM edits INDEXED BY edits_by_message
        WHERE context = ? AND message_seq = ? AND deletes = 0 ORDER BY seq
        """,
        row -> new EditView(row.longText("content"), row.time("edited_at")),
        context,
        seq);
  }

  /// Returns the answer of a task that began at `seq`.
  Optional<MessageView> answer(ContextId context, TaskId task, long seq) throws SQLException {
    return sqlSession.first(
        VISIBLE + " AND m.seq > ? AND m.task_id = ? AND m.role = ? ORDER BY m.seq DESC LIMIT 1",
        MessageTable::view,
        context,
        seq,
        task,
        Role.ASSISTANT.wire());
  }

  /// Returns the latest messages, oldest first.
  List<MessageView> latest(ContextId context, int limit) throws SQLException {
    return sqlSession
        .list(VISIBLE + " ORDER BY m.seq DESC LIMIT ?", MessageTable::view, context, limit)
        .reversed();
  }

  Optional<MessageView> find(ContextId context, MessageId message) throws SQLException {
    return sqlSession.first(
        VISIBLE
            + """
            AND m.seq IN (SELECT seq FROM messages INDEXED BY messages_by_id
              WHERE context = ? AND message_id = ?)
            ORDER BY m.seq DESC LIMIT 1
            """,
        MessageTable::view,
        context,
        context,
        message);
  }

  /// Returns the position of a message, rewound or not. If several have the id, the last one.
  Optional<TurnPosition> turnPosition(ContextId context, MessageId message) throws SQLException {
    return sqlSession.first(
        """
        SELECT seq, rewound FROM messages INDEXED BY messages_by_id
        WHERE context = ? AND message_id = ? ORDER BY rewound, seq DESC LIMIT 1
        """,
        row -> new TurnPosition(row.number("seq"), row.flag("rewound"), true),
        context,
        message);
  }

  private void addEdit(
      ContextId context, Correction correction, long message, @Nullable String metadata)
      throws SQLException {
    sqlSession.update(
        """
        INSERT INTO edits (context, seq, message_seq, content, metadata, edited_at, deletes)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        context,
        correction.seq(),
        message,
        texts.put(context, correction.content()),
        metadata,
        correction.at().toEpochMilli(),
        correction.content() == null);
  }

  /// Returns the task that answers a person's message, which itself belongs to no task.
  private static @Nullable TaskId taskOf(Entry entry, Message message) {
    return entry.taskId() == null ? message.facts().taskId().orElse(null) : entry.taskId();
  }

  /// Returns a message as it is before any correction.
  static MessageView view(Entry entry, Message message) {
    return new MessageView(
        message.messageId(),
        entry.position().seq(),
        message.role(),
        message.content(),
        message.parts(),
        taskOf(entry, message),
        entry.origin() == null ? null : entry.origin().agentId(),
        Instant.ofEpochMilli(entry.timestamp().toEpochMilli()),
        null,
        message.metadata());
  }

  private static MessageView view(Row row) throws SQLException {
    return new MessageView(
        new MessageId(row.text("message_id")),
        row.number("seq"),
        row.name("role", Role.class),
        row.longText("content"),
        parts(row.optionalLongJson("parts")),
        row.optionalId("task_id", TaskId::new),
        row.optionalId("agent_id", AgentTypeId::new),
        row.time("created_at"),
        row.optionalTime("edited_at"),
        row.optionalLongObject("metadata"));
  }

  private static @Nullable List<JsonNode> parts(@Nullable JsonNode array) {
    return array == null ? null : array.valueStream().toList();
  }
}
