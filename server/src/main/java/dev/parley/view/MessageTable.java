package dev.parley.view;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One row per message as it was said, and one per edit or deletion, so that a rewind can undo them.
///
/// `messages.edit` is the edit that counts.
final class MessageTable {

  private static final String VISIBLE =
      """
      SELECT m.seq, m.message_id, m.role, m.parts, m.task_id, m.agent_id, m.created_at,
        coalesce(e.content, m.content) AS content, e.edited_at,
        CASE WHEN m.edit IS NULL THEN m.metadata ELSE e.metadata END AS metadata
      FROM messages m LEFT JOIN edits e ON e.context = m.context AND e.seq = m.edit
      WHERE m.context = ? AND m.rewound = 0 AND m.deleted = 0
      """;

  private final Sql sql;

  MessageTable(Sql sql) {
    this.sql = sql;
  }

  void add(Entry entry, Message message) throws SQLException {
    var origin = entry.origin();
    var task = taskOf(entry, message);
    sql.update(
        """
        INSERT INTO messages (context, seq, message_id, role, content, parts, task_id, agent_id,
          created_at, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        entry.contextId().value(),
        entry.position().seq(),
        message.messageId().value(),
        message.role().wire(),
        message.content(),
        Column.json(message.parts()),
        task,
        origin == null ? null : origin.agentId().value(),
        entry.timestamp().toEpochMilli(),
        Column.json(message.metadata()));
  }

  void edit(Entry entry, MessageUpdated updated) throws SQLException {
    var found = find(entry.contextId(), updated.messageId());
    if (found.isPresent()) {
      var metadata = Column.merged(found.get().metadata(), updated.metadata());
      addEdit(entry, found.get().seq(), updated.content(), Column.json(metadata));
      sql.update(
          "UPDATE messages SET edit = ? WHERE context = ? AND seq = ?",
          entry.position().seq(),
          entry.contextId().value(),
          found.get().seq());
    }
  }

  /// Hides a message. False if it is not there.
  boolean delete(Entry entry, MessageDeleted deleted) throws SQLException {
    var found = find(entry.contextId(), deleted.messageId());
    if (found.isEmpty()) {
      return false;
    }
    addEdit(entry, found.get().seq(), null, null);
    sql.update(
        "UPDATE messages SET deleted = 1 WHERE context = ? AND seq = ?",
        entry.contextId().value(),
        found.get().seq());
    return true;
  }

  /// Lets messages be as the edits that still count made them.
  void editAgain(ContextId context) throws SQLException {
    sql.update(
        """
        UPDATE messages SET
          edit = (SELECT max(e.seq) FROM edits e INDEXED BY edits_by_message
            WHERE e.context = messages.context
            AND e.message_seq = messages.seq AND e.rewound = 0 AND e.deletes = 0),
          deleted = EXISTS (SELECT 1 FROM edits e INDEXED BY edits_by_message
            WHERE e.context = messages.context
            AND e.message_seq = messages.seq AND e.rewound = 0 AND e.deletes = 1)
        WHERE context = ? AND seq IN (SELECT message_seq FROM edits WHERE context = ?)
        """,
        context.value(),
        context.value());
  }

  List<MessageView> page(ContextId context, long after, int limit) throws SQLException {
    return sql.list(
        VISIBLE + " AND m.seq > ? ORDER BY m.seq LIMIT ?",
        MessageTable::view,
        context.value(),
        after,
        limit);
  }

  List<MessageView> pageFrom(ContextId context, long offset, int limit) throws SQLException {
    return sql.list(
        VISIBLE + " ORDER BY m.seq LIMIT ? OFFSET ?",
        MessageTable::view,
        context.value(),
        limit,
        offset);
  }

  /// What the message at `seq` read before each edit that counts.
  List<EditView> edits(ContextId context, long seq) throws SQLException {
    return sql.list(
        """
        SELECT edited_at, coalesce(lag(content) OVER (ORDER BY seq),
          (SELECT m.content FROM messages m WHERE m.context = edits.context
            AND m.seq = edits.message_seq)) AS content
        FROM edits INDEXED BY edits_by_message
        WHERE context = ? AND message_seq = ? AND rewound = 0 AND deletes = 0 ORDER BY seq
        """,
        row -> new EditView(row.text("content"), row.time("edited_at")),
        context.value(),
        seq);
  }

  /// What a task that began at `seq` answered.
  Optional<MessageView> answer(ContextId context, TaskId task, long seq) throws SQLException {
    return sql.first(
        VISIBLE + " AND m.seq > ? AND m.task_id = ? AND m.role = ? ORDER BY m.seq DESC LIMIT 1",
        MessageTable::view,
        context.value(),
        seq,
        task.value(),
        Role.ASSISTANT.wire());
  }

  /// The latest messages, oldest first.
  List<MessageView> latest(ContextId context, int limit) throws SQLException {
    return sql.list(
            VISIBLE + " ORDER BY m.seq DESC LIMIT ?", MessageTable::view, context.value(), limit)
        .reversed();
  }

  Optional<MessageView> find(ContextId context, MessageId message) throws SQLException {
    return sql.first(
        VISIBLE
            + """
            AND m.seq IN (SELECT seq FROM messages INDEXED BY messages_by_id
              WHERE context = ? AND message_id = ?)
            ORDER BY m.seq DESC LIMIT 1
            """,
        MessageTable::view,
        context.value(),
        context.value(),
        message.value());
  }

  /// Where a message stands, whether it counts or not; the last one, if several have the id.
  Optional<Place> place(ContextId context, MessageId message) throws SQLException {
    return sql.first(
        """
        SELECT seq, rewound FROM messages INDEXED BY messages_by_id
        WHERE context = ? AND message_id = ? ORDER BY rewound, seq DESC LIMIT 1
        """,
        row -> new Place(row.number("seq"), row.flag("rewound"), true),
        context.value(),
        message.value());
  }

  private void addEdit(
      Entry entry, long message, @Nullable String content, @Nullable String metadata)
      throws SQLException {
    sql.update(
        """
        INSERT INTO edits (context, seq, message_seq, content, metadata, edited_at, deletes)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        entry.contextId().value(),
        entry.position().seq(),
        message,
        content,
        metadata,
        entry.timestamp().toEpochMilli(),
        content == null);
  }

  /// A person's message comes from no task, but may say which one answers it.
  private static @Nullable String taskOf(@Nullable ObjectNode metadata) {
    var task = metadata == null ? null : metadata.get("taskId");
    return task != null && task.isString() && Id.valid(task.asString()) ? task.asString() : null;
  }

  private static @Nullable String taskOf(Entry entry, Message message) {
    return entry.taskId() == null ? taskOf(message.metadata()) : entry.taskId().value();
  }

  /// A message as it reads when it has just been said.
  static MessageView view(Entry entry, Message message) {
    var task = taskOf(entry, message);
    return new MessageView(
        message.messageId(),
        entry.position().seq(),
        message.role(),
        message.content(),
        message.parts(),
        task == null ? null : new TaskId(task),
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
        row.text("content"),
        parts(row.optionalJson("parts")),
        row.optionalId("task_id", TaskId::new),
        row.optionalId("agent_id", AgentTypeId::new),
        row.time("created_at"),
        row.optionalTime("edited_at"),
        row.optionalObject("metadata"));
  }

  private static @Nullable List<JsonNode> parts(@Nullable JsonNode array) {
    return array == null ? null : array.valueStream().toList();
  }
}
