package dev.parley.projection;

import dev.parley.projection.EntryNumbering.EntryNumber;
import dev.parley.projection.RootTaskList.RootTaskCursor;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Queries for root tasks in all contexts; see [Views].
public final class RootTaskQueries {

  private static final String SELECT =
      """
      SELECT t.*, coalesce(n.n, 0) AS numbers,
        (SELECT c.title FROM contexts c WHERE c.context = t.context) AS title
      """;
  private static final String JOIN =
      " LEFT JOIN numbers n ON n.context = t.context AND n.task_id = t.task_id ";
  private static final String PAGE =
      StoredTaskTable.NOT_REMOVED
          + """
           AND t.rewound = 0 AND t.shared = 0 AND (t.created_at, t.seq, t.context) < (?, ?, ?)
             AND
          """
          + VisibleContexts.condition(
              "(SELECT c.owner FROM contexts c WHERE c.context = t.context)", "t.context")
          + """
           ORDER BY t.created_at DESC, t.seq DESC, t.context DESC LIMIT ?
          """;

  /// Selects root tasks by progress.
  public enum RootTaskScope {
    ALL(
        SELECT
            + "FROM tasks t INDEXED BY tasks_roots"
            + JOIN
            + "WHERE t.parent_task_id IS NULL"
            + PAGE),
    /// Tasks that have not ended.
    OPEN(
        SELECT
            + "FROM tasks t INDEXED BY tasks_roots_open"
            + JOIN
            + "WHERE t.parent_task_id IS NULL AND t.ended_at IS NULL"
            + PAGE),
    /// Tasks that have not started.
    WAITING(
        SELECT
            + "FROM tasks t INDEXED BY tasks_roots_open"
            + JOIN
            + "WHERE t.parent_task_id IS NULL AND t.ended_at IS NULL AND t.status = 'submitted'"
            + PAGE);

    private final String sql;

    RootTaskScope(String sql) {
      this.sql = sql;
    }
  }

  private final Views views;

  RootTaskQueries(Views views) {
    this.views = views;
  }

  /// Returns the root task, rewound or not, if there is one.
  public Optional<RootTaskView> find(TaskId task) {
    return views
        .contextOf(task)
        .flatMap(context -> views.query(context, viewTables -> find(viewTables, context, task)));
  }

  /// Returns all root tasks of a context, rewound or not, oldest first, at most 1,000.
  public List<TaskId> inContext(ContextId context) {
    return views.query(
        context,
        viewTables ->
            viewTables
                .sql()
                .list(
                    """
                    SELECT task_id FROM tasks WHERE context = ? AND parent_task_id IS NULL
                      AND shared = 0 ORDER BY seq LIMIT ?
                    """,
                    row -> new TaskId(row.text("task_id")),
                    context,
                    Views.PAGE_MAX));
  }

  /// Returns root tasks in visible contexts, newest first.
  public ResultPage<RootTaskView> page(
      VisibleContexts visible, RootTaskScope rootTaskScope, @Nullable String cursor, int limit) {
    var from = RootTaskCursor.parse(cursor);
    var max = Views.clamp(limit);
    return Views.page(
        views.queryList(viewTables -> page(viewTables, visible, rootTaskScope, from, max + 1)),
        max,
        last -> RootTaskCursor.of(last).toString());
  }

  /// Counts the root tasks in visible contexts.
  public long count(VisibleContexts visible, RootTaskScope rootTaskScope) {
    return views.queryList(
        viewTables -> {
          var counted = "SELECT count(*) AS n FROM (" + rootTaskScope.sql + ")";
          return viewTables
              .sql()
              .first(
                  counted,
                  row -> row.number("n"),
                  visible.values(List.of(Long.MAX_VALUE, Long.MAX_VALUE, ""), -1))
              .orElse(0L);
        });
  }

  /// Returns root tasks of an agent, last changed first.
  public ResultPage<TaskView> pageByChange(
      RootTaskFilter filter, @Nullable String cursor, int limit) {
    var from = RootTaskCursor.parse(cursor);
    var max = Views.clamp(limit);
    return Views.page(
        views.queryList(viewTables -> RootTaskList.page(viewTables, filter, from, max + 1)),
        max,
        last -> RootTaskCursor.ofChange(last).toString());
  }

  /// Returns the cursor of a page by change that ends with this task.
  public static String cursor(TaskView last) {
    return RootTaskCursor.ofChange(last).toString();
  }

  /// Counts the root tasks that the filter selects.
  public long count(RootTaskFilter filter) {
    return views.queryList(viewTables -> RootTaskList.count(viewTables, filter));
  }

  /// Returns the last number of a root task, and its seq.
  public EntryNumber lastNumber(ContextId context, TaskId task) {
    return views.query(context, viewTables -> viewTables.numbers().last(context, task));
  }

  /// Returns where to start counting to find the numbers above `number`: a number that is not above
  /// it with its seq, or 0 with the seq before the task.
  public EntryNumber countingStart(ContextId context, TaskId task, long number) {
    return views.query(
        context,
        viewTables -> {
          var mark = viewTables.numbers().lastMark(context, task, number);
          return mark.isPresent()
              ? mark.get()
              : new EntryNumber(0, viewTables.tasks().firstSeq(context, task).orElse(1L) - 1);
        });
  }

  private static Optional<RootTaskView> find(ViewTables viewTables, ContextId context, TaskId task)
      throws SQLException {
    return viewTables
        .sql()
        .first(
            SELECT
                + "FROM tasks t INDEXED BY tasks_by_id"
                + JOIN
                + """
                WHERE t.context = ? AND t.task_id = ? AND t.parent_task_id IS NULL
                ORDER BY t.seq DESC LIMIT 1
                """,
            row -> view(viewTables, row),
            context,
            task);
  }

  private static List<RootTaskView> page(
      ViewTables viewTables,
      VisibleContexts visible,
      RootTaskScope rootTaskScope,
      RootTaskCursor from,
      int limit)
      throws SQLException {
    return viewTables
        .sql()
        .list(
            rootTaskScope.sql,
            row -> view(viewTables, row),
            visible.values(
                List.of(from.createdAt(), from.seq(), ColumnValues.id(from.context())), limit));
  }

  private static RootTaskView view(ViewTables viewTables, Row row) throws SQLException {
    return new RootTaskView(
        viewTables.tasks().view(row),
        row.number("numbers"),
        row.optionalNumber("end_seq"),
        row.optionalText("title"));
  }
}
