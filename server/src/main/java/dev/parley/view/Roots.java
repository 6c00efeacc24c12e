package dev.parley.view;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Queries for root tasks in all contexts; see [Views].
public final class Roots {

  private static final String SELECT =
      """
      SELECT t.*, coalesce(n.n, 0) AS numbers,
        (SELECT c.title FROM contexts c WHERE c.context = t.context) AS title
      """;
  private static final String JOIN =
      " LEFT JOIN numbers n ON n.context = t.context AND n.task_id = t.task_id ";
  private static final String PAGE =
      StoredTable.NOT_REMOVED
          + """
           AND t.rewound = 0 AND t.shared = 0 AND (t.created_at, t.seq, t.context) < (?, ?, ?)
             AND (? OR (SELECT c.owner FROM contexts c WHERE c.context = t.context)
               IN (SELECT value FROM json_each(?)))
           ORDER BY t.created_at DESC, t.seq DESC, t.context DESC LIMIT ?
          """;

  /// Selects root tasks by progress.
  public enum Which {
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

    Which(String sql) {
      this.sql = sql;
    }
  }

  private final Views views;

  Roots(Views views) {
    this.views = views;
  }

  /// Returns the root task, rewound or not, if there is one.
  public Optional<RootView> find(TaskId task) {
    return views
        .contextOf(task)
        .flatMap(context -> views.answer(context, tables -> find(tables, context, task)));
  }

  /// Returns all root tasks of a context, rewound or not, oldest first, at most 1,000.
  public List<TaskId> of(ContextId context) {
    return views.answer(
        context,
        tables ->
            tables
                .sql()
                .list(
                    """
                    SELECT task_id FROM tasks WHERE context = ? AND parent_task_id IS NULL
                      AND shared = 0 ORDER BY seq LIMIT ?
                    """,
                    row -> new TaskId(row.text("task_id")),
                    context.value(),
                    Views.PAGE_MAX));
  }

  /// Returns root tasks in contexts of these owners (of all owners if the set is empty), newest
  /// first.
  public Page<RootView> page(Set<String> owners, Which which, @Nullable String cursor, int limit) {
    var from = RootCursor.parse(cursor);
    var max = Views.clamp(limit);
    return Views.page(
        views.answerList(tables -> page(tables, owners, which, from, max + 1)),
        max,
        last -> RootCursor.of(last).toString());
  }

  /// Counts the root tasks in contexts of these owners (of all owners if the set is empty).
  public long count(Set<String> owners, Which which) {
    return views.answerList(
        tables -> {
          var counted = "SELECT count(*) AS n FROM (" + which.sql + ")";
          return tables
              .sql()
              .first(
                  counted,
                  row -> row.number("n"),
                  Long.MAX_VALUE,
                  Long.MAX_VALUE,
                  "",
                  owners.isEmpty(),
                  Column.json(owners),
                  -1)
              .orElse(0L);
        });
  }

  /// Returns root tasks of an agent, last changed first.
  public Page<TaskView> changed(RootFilter filter, @Nullable String cursor, int limit) {
    var from = RootCursor.parse(cursor);
    var max = Views.clamp(limit);
    return Views.page(
        views.answerList(tables -> RootList.page(tables, filter, from, max + 1)),
        max,
        last -> RootCursor.ofChange(last).toString());
  }

  /// Returns the cursor of a page by change that ends with this task.
  public static String cursor(TaskView last) {
    return RootCursor.ofChange(last).toString();
  }

  /// Counts the root tasks that the filter selects.
  public long count(RootFilter filter) {
    return views.answerList(tables -> RootList.count(tables, filter));
  }

  /// Returns the last number of a root task, and its seq.
  public Numbered last(ContextId context, TaskId task) {
    return views.answer(context, tables -> tables.numbers().last(context, task));
  }

  /// Returns where to start counting to find the numbers above `number`: a number that is not above
  /// it with its seq, or 0 with the seq before the task.
  public Numbered mark(ContextId context, TaskId task, long number) {
    return views.answer(
        context,
        tables -> {
          var mark = tables.numbers().mark(context, task, number);
          return mark.isPresent()
              ? mark.get()
              : new Numbered(0, tables.tasks().first(context, task).orElse(1L) - 1);
        });
  }

  private static Optional<RootView> find(Tables tables, ContextId context, TaskId task)
      throws SQLException {
    return tables
        .sql()
        .first(
            SELECT
                + "FROM tasks t INDEXED BY tasks_by_id"
                + JOIN
                + """
                WHERE t.context = ? AND t.task_id = ? AND t.parent_task_id IS NULL
                ORDER BY t.seq DESC LIMIT 1
                """,
            row -> view(tables, row),
            context.value(),
            task.value());
  }

  private static List<RootView> page(
      Tables tables, Set<String> owners, Which which, RootCursor from, int limit)
      throws SQLException {
    return tables
        .sql()
        .list(
            which.sql,
            row -> view(tables, row),
            from.createdAt(),
            from.seq(),
            from.context(),
            owners.isEmpty(),
            Column.json(owners),
            limit);
  }

  private static RootView view(Tables tables, Row row) throws SQLException {
    return new RootView(
        tables.tasks().view(row),
        row.number("numbers"),
        row.optionalNumber("end_seq"),
        row.optionalText("title"));
  }
}
