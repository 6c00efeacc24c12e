package dev.parley.projection;

import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lists the root tasks of an agent, last changed first.
final class RootTaskList {

  private static final String WHERE =
      """
      FROM tasks t INDEXED BY tasks_roots_by_change
      WHERE t.parent_task_id IS NULL AND t.rewound = 0 AND t.shared = 0 AND t.agent_id = ?
        AND (? IS NULL OR t.context = ?)
        AND t.status IN (SELECT value FROM json_each(?))
        AND t.updated_at >= ?
        AND (? IS NULL OR json_extract(%s, '$.a2a.tenant') = ?)
        AND %s
      """
              .formatted(
                  TextTable.jsonIn("t.metadata"),
                  VisibleContexts.condition(
                      "(SELECT c.owner FROM contexts c WHERE c.context = t.context)", "t.context"))
          + StoredTaskTable.NOT_REMOVED;

  private RootTaskList() {}

  static List<TaskView> page(
      ViewTables viewTables, RootTaskFilter filter, RootTaskCursor from, int limit)
      throws SQLException {
    var values = values(filter);
    values.addAll(List.of(from.createdAt(), from.seq(), ColumnValues.id(from.context()), limit));
    return viewTables
        .sql()
        .list(
            "SELECT t.* "
                + WHERE
                + """
                AND (t.updated_at, t.seq, t.context) < (?, ?, ?)
                ORDER BY t.updated_at DESC, t.seq DESC, t.context DESC LIMIT ?
                """,
            row -> viewTables.tasks().view(row),
            values.toArray());
  }

  static long count(ViewTables viewTables, RootTaskFilter filter) throws SQLException {
    return viewTables
        .sql()
        .first("SELECT count(*) AS n " + WHERE, row -> row.number("n"), values(filter).toArray())
        .orElse(0L);
  }

  private static List<@Nullable Object> values(RootTaskFilter filter) {
    var context = filter.context();
    var values = new ArrayList<@Nullable Object>();
    values.add(filter.agent().value());
    values.add(context);
    values.add(context);
    values.add(ColumnValues.json(filter.states().stream().map(TaskState::wire).toList()));
    values.add(filter.changedSince() == null ? 0L : filter.changedSince().toEpochMilli());
    var tenant = filter.tenant() == null ? null : TextTable.inJson(filter.tenant());
    values.add(tenant);
    values.add(tenant);
    values.addAll(filter.visible().values());
    return values;
  }

  /// The end of a page of root tasks: when the last task was created or changed, and its seq and
  /// context.
  record RootTaskCursor(long createdAt, long seq, String context) {

    private static final RootTaskCursor START =
        new RootTaskCursor(Long.MAX_VALUE, Long.MAX_VALUE, "");
    private static final int PARTS = 3;

    static RootTaskCursor of(RootTaskView last) {
      var task = last.task();
      return new RootTaskCursor(
          task.createdAt().toEpochMilli(), task.seq(), task.contextId().value());
    }

    static RootTaskCursor ofChange(TaskView last) {
      return new RootTaskCursor(
          last.updatedAt().toEpochMilli(), last.seq(), last.contextId().value());
    }

    static RootTaskCursor parse(@Nullable String text) {
      if (text == null) {
        return START;
      }
      var parts = text.split("\\.", PARTS);
      if (parts.length != PARTS) {
        throw SeqCursor.invalid();
      }
      return new RootTaskCursor(SeqCursor.parse(parts[0]), SeqCursor.parse(parts[1]), parts[2]);
    }

    @Override
    public String toString() {
      return createdAt + "." + seq + "." + context;
    }
  }
}
