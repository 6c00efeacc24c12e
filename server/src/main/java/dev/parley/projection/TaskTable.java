package dev.parley.projection;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.TaskView.TaskError;
import dev.parley.protocol.ToolCallId;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// One row per task.
///
/// A rewind hides tasks that began after its target. A task that began before the target keeps its
/// final state, so an ended task never seems to run again.
final class TaskTable {

  private static final String THIS =
      """
       WHERE context = ? AND seq = (SELECT max(seq) FROM tasks INDEXED BY tasks_by_id
        WHERE context = ? AND task_id = ?)
      """;

  private final SqlSession sqlSession;
  private final TextTable texts;

  TaskTable(SqlSession sqlSession, TextTable texts) {
    this.sqlSession = sqlSession;
    this.texts = texts;
  }

  void add(Entry entry, Origin origin, TaskCreated created) throws SQLException {
    var now = entry.timestamp().toEpochMilli();
    sqlSession.update(
        """
        INSERT INTO tasks (context, seq, task_id, parent_task_id, root_task_id, agent_id,
          agent_level, invocation_id, spawned_by_call_id, status, initiator, message_id, prompt,
          task_type, priority, timeout_ms, working_directory, created_at, updated_at, metadata)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        entry.contextId(),
        entry.position().seq(),
        origin.taskId(),
        origin.parentTaskId(),
        origin.rootTaskId(),
        origin.agentId().value(),
        origin.agentLevel().wire(),
        origin.invocationId(),
        origin.spawnedByCallId(),
        TaskState.SUBMITTED.wire(),
        created.initiator().wire(),
        created.messageId(),
        texts.put(entry.contextId(), created.prompt()),
        created.taskType(),
        ColumnValues.of(created.priority()),
        created.timeoutMs(),
        created.workingDirectory(),
        now,
        now,
        texts.putJson(entry.contextId(), created.metadata()));
  }

  void setStatus(Entry entry, TaskId task, TaskStatus status) throws SQLException {
    var now = entry.timestamp().toEpochMilli();
    // A task that has completed has recovered from its error.
    var error = status.status() == TaskState.COMPLETED ? ", error = NULL" : "";
    change(
        "status = ?, message = ?, updated_at = ?, ended_at = ?, end_seq = ?" + error,
        entry.contextId(),
        task,
        status.status().wire(),
        status.message(),
        now,
        status.status().terminal() ? now : null,
        status.status().terminal() ? entry.position().seq() : null);
    if (status.facts().retry().isEmpty()) {
      // A retry of a model call is temporary and does not describe the task.
      describe(entry.contextId(), task, status.metadata());
    }
    if (status.status().terminal() && status.status() != TaskState.COMPLETED) {
      // Of a completed task, `task-complete` follows.
      storeFinalMetadata(entry.contextId(), task);
    }
  }

  void complete(Entry entry, TaskId task, TaskComplete complete) throws SQLException {
    var now = entry.timestamp().toEpochMilli();
    var context = entry.contextId();
    var metadata = ColumnValues.merged(metadata(context, task).orElse(null), complete.metadata());
    change(
        """
        status = ?, content = ?, artifacts = ?, updated_at = ?, end_seq = ?,
          ended_at = coalesce(ended_at, ?), metadata = ?
        """,
        context,
        task,
        TaskState.COMPLETED.wire(),
        texts.put(context, complete.content()),
        ColumnValues.json(complete.artifacts()),
        now,
        entry.position().seq(),
        now,
        texts.putFinalJson(context, metadata));
  }

  void requestCancel(Entry entry, TaskId task) throws SQLException {
    change(
        "cancel_requested = 1, updated_at = ?",
        entry.contextId(),
        task,
        entry.timestamp().toEpochMilli());
  }

  void fail(Entry entry, TaskId task, ErrorReported error) throws SQLException {
    change(
        "error = ?, updated_at = ?",
        entry.contextId(),
        task,
        ColumnValues.json(new TaskError(error.code().wire(), error.message(), error.retryable())),
        entry.timestamp().toEpochMilli());
  }

  /// Marks tasks up to `seq` as shared: they belong to the fork's source.
  void markShared(ContextId context, long seq) throws SQLException {
    sqlSession.update(
        "UPDATE tasks SET shared = 1 WHERE context = ? AND seq <= ? AND shared = 0", context, seq);
  }

  /// Returns where the task's turn began, rewound or not.
  Optional<TurnPosition> turnPosition(ContextId context, TaskId task) throws SQLException {
    return sqlSession.first(
        """
        SELECT rewound, parent_task_id, coalesce((SELECT max(m.seq)
          FROM messages m INDEXED BY messages_by_id WHERE m.context = tasks.context
          AND m.message_id = tasks.message_id AND m.seq < tasks.seq), seq) AS first
        FROM tasks
        """
            + THIS,
        row ->
            new TurnPosition(
                row.number("first"),
                row.flag("rewound"),
                row.optionalText("parent_task_id") == null),
        context,
        context,
        task);
  }

  /// Returns the oldest task that was open at `seq`.
  Optional<TaskId> openAt(ContextId context, long seq) throws SQLException {
    return sqlSession.first(
        """
        SELECT task_id FROM tasks WHERE context = ? AND seq <= ?
          AND (end_seq IS NULL OR end_seq > ?) ORDER BY seq LIMIT 1
        """,
        row -> new TaskId(row.text("task_id")),
        context,
        seq,
        seq);
  }

  /// Returns the parent task, rewound or not.
  Optional<TaskId> parentOf(ContextId context, TaskId task) throws SQLException {
    return sqlSession
        .first(
            "SELECT parent_task_id FROM tasks" + THIS,
            row -> Optional.ofNullable(row.optionalText("parent_task_id")).map(TaskId::new),
            context,
            context,
            task)
        .flatMap(Function.identity());
  }

  /// Returns the folders that root tasks of the context worked in, latest first, rewound or not.
  List<String> folders(ContextId context, int most) throws SQLException {
    return sqlSession.list(
        """
        SELECT working_directory FROM tasks WHERE context = ? AND parent_task_id IS NULL
          AND working_directory IS NOT NULL GROUP BY working_directory ORDER BY max(seq) DESC LIMIT ?
        """,
        row -> row.text("working_directory"),
        context,
        most);
  }

  Optional<ContextId> contextOf(TaskId task) throws SQLException {
    return sqlSession.first(
        "SELECT context FROM tasks WHERE task_id = ? AND shared = 0 ORDER BY context LIMIT 1",
        row -> new ContextId(row.text("context")),
        task);
  }

  /// Returns the seq of `task-created` for the task that had this id at `seq`, rewound or not.
  Optional<Long> startSeq(ContextId context, TaskId task, long seq) throws SQLException {
    return sqlSession.first(
        """
        SELECT seq FROM tasks INDEXED BY tasks_by_id
        WHERE context = ? AND task_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1
        """,
        row -> row.number("seq"),
        context,
        task,
        seq);
  }

  /// Returns the agent of a task that had begun, or was stored, at `seq`, rewound or not.
  Optional<AgentTypeId> agentOf(ContextId context, TaskId task, long seq) throws SQLException {
    return sqlSession.first(
        """
        SELECT agent_id FROM tasks INDEXED BY tasks_by_id
        WHERE context = ?1 AND task_id = ?2 AND seq <= ?3
        UNION ALL SELECT 'unknown' FROM stored INDEXED BY stored_by_task
        WHERE context = ?1 AND task_id = ?2 AND seq <= ?3 LIMIT 1
        """,
        row -> new AgentTypeId(row.text("agent_id")),
        context,
        task,
        seq);
  }

  /// Returns the seq of the first task with this id, rewound or not.
  Optional<Long> firstSeq(ContextId context, TaskId task) throws SQLException {
    return sqlSession.first(
        """
        SELECT seq FROM tasks INDEXED BY tasks_by_id
        WHERE context = ? AND task_id = ? ORDER BY seq LIMIT 1
        """,
        row -> row.number("seq"),
        context,
        task);
  }

  Optional<TaskView> find(ContextId context, TaskId task) throws SQLException {
    return sqlSession.first(
        "SELECT * FROM tasks AS t" + THIS + " AND rewound = 0" + StoredTaskTable.NOT_REMOVED,
        this::view,
        context,
        context,
        task);
  }

  Optional<TaskView> findRewound(ContextId context, TaskId task) throws SQLException {
    return sqlSession.first(
        "SELECT * FROM tasks" + THIS + " AND rewound = 1", this::view, context, context, task);
  }

  List<TaskView> roots(ContextId context, long from, long to, int limit) throws SQLException {
    return sqlSession.list(
        "SELECT * FROM tasks AS t WHERE context = ? AND rewound = 0 AND parent_task_id IS NULL"
            + StoredTaskTable.NOT_REMOVED
            + " AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
        this::view,
        context,
        from,
        to,
        limit);
  }

  List<TaskView> page(ContextId context, long after, int limit) throws SQLException {
    return sqlSession.list(
        "SELECT * FROM tasks AS t WHERE context = ? AND rewound = 0"
            + StoredTaskTable.NOT_REMOVED
            + " AND seq > ? ORDER BY seq LIMIT ?",
        this::view,
        context,
        after,
        limit);
  }

  /// Returns open tasks and the trees of the latest root tasks, oldest first. If there are more
  /// than `max`, open tasks and then newer ones take precedence.
  List<TaskView> current(ContextId context, int roots, int max) throws SQLException {
    return sqlSession
        .list(
            """
            SELECT * FROM tasks WHERE context = ? AND rewound = 0 AND seq IN (
              SELECT seq FROM tasks INDEXED BY tasks_open WHERE context = ? AND ended_at IS NULL
              UNION
              SELECT seq FROM tasks INDEXED BY tasks_by_root
              WHERE context = ? AND root_task_id IN (SELECT task_id FROM tasks
                WHERE context = ? AND rewound = 0 AND parent_task_id IS NULL
                ORDER BY seq DESC LIMIT ?))
            ORDER BY ended_at IS NULL DESC, seq DESC LIMIT ?
            """,
            this::view,
            context,
            context,
            context,
            context,
            roots,
            max)
        .stream()
        .sorted(Comparator.comparingLong(TaskView::seq))
        .toList();
  }

  private void describe(ContextId context, TaskId task, @Nullable ObjectNode metadata)
      throws SQLException {
    if (metadata != null) {
      var merged = ColumnValues.merged(metadata(context, task).orElse(null), metadata);
      change("metadata = ?", context, task, texts.putJson(context, merged));
    }
  }

  /// Stores the metadata of a task that has ended once for all forks.
  private void storeFinalMetadata(ContextId context, TaskId task) throws SQLException {
    var metadata = metadata(context, task);
    if (metadata.isPresent()) {
      change("metadata = ?", context, task, texts.putFinalJson(context, metadata.get()));
    }
  }

  private Optional<ObjectNode> metadata(ContextId context, TaskId task) throws SQLException {
    return sqlSession
        .first(
            "SELECT metadata FROM tasks" + THIS,
            row -> Optional.ofNullable(row.optionalLongObject("metadata")),
            context,
            context,
            task)
        .flatMap(Function.identity());
  }

  private void change(String what, ContextId context, TaskId task, @Nullable Object... values)
      throws SQLException {
    var all = new @Nullable Object[values.length + 3];
    System.arraycopy(values, 0, all, 0, values.length);
    all[values.length] = context;
    all[values.length + 1] = context;
    all[values.length + 2] = task;
    sqlSession.update("UPDATE tasks SET " + what + THIS, all);
  }

  TaskView view(Row row) throws SQLException {
    return new TaskView(
        new TaskId(row.text("task_id")),
        new ContextId(row.text("context")),
        row.optionalId("parent_task_id", TaskId::new),
        new TaskId(row.text("root_task_id")),
        new AgentTypeId(row.text("agent_id")),
        row.name("agent_level", AgentLevel.class),
        row.optionalId("invocation_id", InvocationId::new),
        row.optionalId("spawned_by_call_id", ToolCallId::new),
        row.number("seq"),
        row.name("status", TaskState.class),
        row.optionalText("message"),
        row.name("initiator", Initiator.class),
        row.optionalId("message_id", MessageId::new),
        row.optionalLongText("prompt"),
        row.optionalText("task_type"),
        row.optionalName("priority", Priority.class),
        row.optionalNumber("timeout_ms"),
        row.optionalText("working_directory"),
        row.time("created_at"),
        row.time("updated_at"),
        row.optionalTime("ended_at"),
        row.flag("cancel_requested") ? true : null,
        row.optionalLongText("content"),
        artifacts(row),
        error(row.optionalObject("error")),
        row.optionalLongObject("metadata"));
  }

  /// Returns the artifacts that the task reported, or else those that it has written so far.
  private @Nullable List<ArtifactId> artifacts(Row row) throws SQLException {
    var named = row.optionalJson("artifacts");
    if (named != null) {
      return named.valueStream().map(id -> new ArtifactId(id.asString())).toList();
    }
    var written =
        sqlSession.list(
            """
            SELECT artifact_id FROM artifacts INDEXED BY artifacts_by_task
            WHERE context = ? AND task_id = ? AND rewound = 0
            GROUP BY artifact_id ORDER BY min(seq)
            """,
            artifact -> new ArtifactId(artifact.text("artifact_id")),
            new ContextId(row.text("context")),
            new TaskId(row.text("task_id")));
    return written.isEmpty() ? null : written;
  }

  private static @Nullable TaskError error(@Nullable ObjectNode json) {
    return json == null ? null : Json.read(json, TaskError.class);
  }
}
