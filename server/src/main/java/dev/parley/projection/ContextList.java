package dev.parley.projection;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextView;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lists contexts together with their agents; see [Views].
public final class ContextList {

  /// The agent that the context's metadata names, or that of the first active root task.
  private static final String AGENT =
      """
      coalesce(json_extract(c.metadata, '$.session.agentId'), (SELECT t.agent_id FROM tasks t
        WHERE t.context = c.context AND t.rewound = 0 AND t.parent_task_id IS NULL
        ORDER BY t.seq LIMIT 1))
      """;

  /// Selects visible contexts, with this agent if one is given, and of this user or of no user if
  /// one is given. Contexts that an agent created for itself are never listed.
  public record ContextFilter(
      VisibleContexts visible, @Nullable AgentTypeId agent, @Nullable String user) {}

  /// A context and its agent, if known.
  public record ListedContext(ContextView context, @Nullable AgentTypeId agent) {}

  private final Views views;

  ContextList(Views views) {
    this.views = views;
  }

  /// Returns contexts from index `offset` on, last changed first.
  public List<ListedContext> page(ContextFilter contextFilter, long offset, int limit) {
    return views.queryList(
        viewTables -> page(viewTables.sql(), contextFilter, offset, Views.clamp(limit)));
  }

  /// Returns the context with its agent.
  public ListedContext find(ContextView context) {
    return views
        .query(
            context.contextId(),
            viewTables ->
                viewTables
                    .sql()
                    .first(
                        "SELECT "
                            + ContextTable.COLUMNS
                            + ", "
                            + AGENT
                            + " AS agent FROM contexts c WHERE c.context = ?",
                        ContextList::listed,
                        context.contextId()))
        .orElseThrow();
  }

  private static List<ListedContext> page(
      SqlSession sqlSession, ContextFilter contextFilter, long offset, int limit)
      throws SQLException {
    var agent = contextFilter.agent();
    var user = contextFilter.user();
    return sqlSession.list(
        "SELECT "
            + ContextTable.COLUMNS
            + ", "
            + AGENT
            + """
             AS agent FROM contexts c
            WHERE coalesce(json_extract(c.metadata, '$.session.source'), '') <> 'agent'
              AND (? IS NULL OR agent = ?)
              AND (? IS NULL OR coalesce(json_extract(c.metadata, '$.session.userId'), ?) = ?)
              AND
            """
            + VisibleContexts.condition("c.owner", "c.context")
            + " ORDER BY c.updated_at DESC, c.context DESC LIMIT ? OFFSET ?",
        ContextList::listed,
        contextFilter
            .visible()
            .values(Arrays.asList(agent, agent, user, user, user), limit, offset));
  }

  private static ListedContext listed(Row row) throws SQLException {
    return new ListedContext(ContextTable.view(row), row.optionalId("agent", AgentTypeId::new));
  }
}
